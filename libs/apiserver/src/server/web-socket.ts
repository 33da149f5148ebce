/** WebSockets that this server speaks itself: those of watches and logs. */
import type { IncomingMessage } from 'node:http';
import { badRequest } from '@orch/apimachinery';
import { acceptWebSocket, HandshakeError } from '@orch/streaming';
import type { WebSocket } from 'ws';
import { webSocketInputBytesMax } from '../limits.js';
import type { Exchange } from '../response/exchange.js';
import type { ClientUpgrade } from './upgrade.js';

/** What the client wants to turn into a WebSocket; undefined when it wants none. */
export function webSocketUpgrade({ request, upgrade }: Exchange): ClientUpgrade | undefined {
  return request.headers.upgrade?.toLowerCase() === 'websocket' ? upgrade : undefined;
}

/** Leaves HTTP. Throws 400, while it can still be answered, for what is no request for a WebSocket. */
export function openWebSocket(
  { request }: Exchange,
  { socket, head, leaveHttp }: ClientUpgrade,
  protocol: string,
): WebSocket {
  try {
    const asked = { request: request as IncomingMessage, socket, head };
    const webSocket = acceptWebSocket(asked, protocol, webSocketInputBytesMax);
    leaveHttp();
    return webSocket;
  } catch (error) {
    if (error instanceof HandshakeError) throw badRequest(error.message);
    throw error;
  }
}
