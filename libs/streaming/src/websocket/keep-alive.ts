/**
 * Pings the peer of a WebSocket periodically, and terminates the connection if it does not respond.
 */
import type { WebSocket } from 'ws';
import { pingIntervalMs, silenceMsMax } from '../limits.js';

/**
 * Starts pinging until the socket closes. Returns a function that must be called for each received
 * message.
 */
export function keepAlive(socket: WebSocket, isPaused: () => boolean): () => void {
  let silentMs = 0;
  const reset = () => {
    silentMs = 0;
  };
  const timer = setInterval(() => {
    if (socket.readyState !== socket.OPEN) return;
    // While the socket is paused, a dead connection is detected by failing writes only.
    silentMs = isPaused() ? 0 : silentMs + pingIntervalMs;
    if (silentMs > silenceMsMax) socket.terminate();
    else socket.ping();
  }, pingIntervalMs);
  timer.unref();
  socket.on('pong', reset);
  socket.on('ping', reset);
  socket.once('close', () => clearInterval(timer));
  return reset;
}
