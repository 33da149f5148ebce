/** The server's side of a WebSocket that carries one stream of bytes to the client, and nothing back. */
import type { Readable } from 'node:stream';
import type { WebSocket } from 'ws';
import { keepAlive } from './keep-alive.js';
import { sendMessage } from './messages.js';

const closeNormal = 1000;
const closeFailed = 1011;

/**
 * Sends what comes as it comes, at the pace of the client, whose own messages are dropped. Resolves when
 * the source has ended or failed, which the close code tells, or when the client has left, with which the
 * source is destroyed.
 */
export async function sendStream(
  socket: WebSocket,
  source: Readable,
  base64: boolean,
): Promise<void> {
  // A client that has yet to take what was sent cannot answer.
  socket.on(
    'message',
    keepAlive(socket, () => socket.bufferedAmount > 0),
  );
  // Its end follows; there is nobody to tell.
  socket.on('error', () => socket.terminate());
  socket.once('close', () => source.destroy());
  try {
    // Clients take the first message as the sign that the stream is there.
    await sendMessage(socket, base64 ? '' : Buffer.alloc(0));
    for await (const chunk of source) {
      const bytes = chunk as Buffer;
      await sendMessage(socket, base64 ? bytes.toString('base64') : bytes);
    }
    socket.close(closeNormal);
  } catch {
    socket.close(closeFailed); // without effect where it is the client that has gone
  }
}
