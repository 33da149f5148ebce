/**
 * A request for an upgrade on its way through the pipeline: it has an ordinary response, which serves
 * until the connection is handed over, and never after.
 */
import { type IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { takeWebSocketToken } from '../authentication/web-socket-token.js';

export interface ClientUpgrade {
  readonly socket: Duplex;
  /** What the client has sent already. */
  readonly head: Buffer;
  /** Lets go of the response, for something else to be spoken. Not to be used once it has been. */
  leaveHttp(): void;
}

export interface UpgradeExchange {
  readonly response: ServerResponse;
  readonly upgrade: ClientUpgrade;
}

export function upgradeExchange(
  request: IncomingMessage,
  socket: Duplex,
  head: Buffer,
): UpgradeExchange {
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
