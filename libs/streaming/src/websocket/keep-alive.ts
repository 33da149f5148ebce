/** Asks the other side of a WebSocket now and then whether it is there, and cuts it off when it is not. */
import type { WebSocket } from 'ws';
import { pingIntervalMs, silenceMsMax } from '../limits.js';

/** Returns a function to be called for whatever comes; ends with the socket. */
export function keepAlive(socket: WebSocket, isPaused: () => boolean): () => void {
  let silentMs = 0;
  const heard = () => {
    silentMs = 0;
  };
  const timer = setInterval(() => {
    if (socket.readyState !== socket.OPEN) return;
    // What is not read cannot be heard: a paused socket fails on what is written to it.
    silentMs = isPaused() ? 0 : silentMs + pingIntervalMs;
    if (silentMs > silenceMsMax) socket.terminate();
    else socket.ping();
  }, pingIntervalMs);
  timer.unref();
  socket.on('pong', heard);
  socket.on('ping', heard);
  socket.once('close', () => clearInterval(timer));
  return heard;
}
