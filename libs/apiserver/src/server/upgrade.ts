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
  /** Writes the head that ends HTTP on this connection. Not to be used once the response has been. */
  begin(head: string): void;
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
  const begin = (text: string) => {
    socket.off('drain', drained);
    response.statusCode = 101;
    response.detachSocket(socket as Socket);
    socket.write(text);
  };
  return { response, upgrade: { socket, head, begin } };
}
