/** Helpers for WebSocket messages. */
import type { RawData, WebSocket } from 'ws';

export function bytesOf(data: RawData): Buffer {
  if (Buffer.isBuffer(data)) return data;
  return Array.isArray(data) ? Buffer.concat(data) : Buffer.from(data);
}

/** Sends a message. Resolves when it is written to the network; rejects if the socket is closed. */
export function sendMessage(socket: WebSocket, message: Buffer | string): Promise<void> {
  return new Promise((resolve, reject) => {
    socket.send(message, (error) => (error ? reject(error) : resolve()));
  });
}
