/** The server side of a WebSocket that sends one byte stream to the client. */
import type { Readable } from 'node:stream';
import type { WebSocket } from 'ws';
import { keepAlive } from './keep-alive.js';
import { sendMessage } from './messages.js';

const closeNormal = 1000;
const closeFailed = 1011;

/**
 * Sends the data of `source` with back-pressure, and ignores messages of the client. Resolves when
 * the source has ended or failed, which determines the close code, or when the client has
 * disconnected, which destroys the source.
 */
export async function sendStream(
  socket: WebSocket,
  source: Readable,
  base64: boolean,
): Promise<void> {
  // A client with unreceived data cannot respond to pings.
  socket.on(
    'message',
    keepAlive(socket, () => socket.bufferedAmount > 0),
  );
  // The close event follows.
  socket.on('error', () => socket.terminate());
  socket.once('close', () => source.destroy());
  try {
    // Clients wait for the first message as a sign that the stream is open.
    await sendMessage(socket, base64 ? '' : Buffer.alloc(0));
    for await (const chunk of source) {
      const bytes = chunk as Buffer;
      await sendMessage(socket, base64 ? bytes.toString('base64') : bytes);
    }
    socket.close(closeNormal);
  } catch {
    // Has no effect if the client has disconnected.
    socket.close(closeFailed);
  }
}
