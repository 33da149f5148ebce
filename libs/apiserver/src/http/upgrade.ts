/**
 * An upgrade request in the filters: it has an ordinary response, which is valid until the
 * connection is handed over.
 */
import { type IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { takeWebSocketToken } from './web-socket-token.js';

export interface ClientUpgrade {
  readonly socket: Duplex;
  /** Bytes that the client has already sent. */
  readonly head: Buffer;
  /** Releases the connection for another protocol. The response must not be used afterwards. */
  leaveHttp(): void;
}

export interface UpgradeResponse {
  readonly response: ServerResponse;
  readonly upgrade: ClientUpgrade;
}

export function acceptUpgrade(
  request: IncomingMessage,
  socket: Duplex,
  head: Buffer,
): UpgradeResponse {
  takeWebSocketToken(request.headers);
  const response = new ServerResponse(request);
  response.shouldKeepAlive = false;
  response.assignSocket(socket as Socket);
  // The server does these for the connections that it reads itself.
  const drained = () => response.emit('drain');
  socket.on('drain', drained);
  response.once('finish', () => socket.end());
  socket.on('error', () => socket.destroy());
  const leaveHttp = () => {
    socket.off('drain', drained);
    response.statusCode = 101;
    response.detachSocket(socket as Socket);
  };
  return { response, upgrade: { socket, head, leaveHttp } };
}
