/** WebSockets that this server terminates: watches and logs. */
import type { IncomingMessage } from 'node:http';
import { badRequest } from '@orch/apimachinery';
import { acceptWebSocket, HandshakeError } from '@orch/streaming';
import type { WebSocket } from 'ws';
import { webSocketInputBytesMax } from '../limits.js';
import type { RequestContext } from './request-context.js';
import type { ClientUpgrade } from './upgrade.js';

/** The upgrade of a request for a WebSocket; undefined for every other request. */
export function webSocketUpgrade({ request, upgrade }: RequestContext): ClientUpgrade | undefined {
  return request.headers.upgrade?.toLowerCase() === 'websocket' ? upgrade : undefined;
}

/**
 * Leaves HTTP. Throws 400, while a response is still possible, if the request is not a valid
 * WebSocket handshake.
 */
export function openWebSocket(
  { request }: RequestContext,
  { socket, head, leaveHttp }: ClientUpgrade,
  protocol: string,
): WebSocket {
  try {
    const accepted = { request: request as IncomingMessage, socket, head };
    const webSocket = acceptWebSocket(accepted, protocol, webSocketInputBytesMax);
    leaveHttp();
    return webSocket;
  } catch (error) {
    if (error instanceof HandshakeError) throw badRequest(error.message);
    throw error;
  }
}
