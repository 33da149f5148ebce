/**
 * Answers a request for a WebSocket. Invariant: whoever is refused has not been written to, so that the
 * caller can still say why in its own words.
 */
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { type WebSocket, WebSocketServer } from 'ws';

export interface WebSocketRequest {
  readonly request: IncomingMessage;
  readonly socket: Duplex;
  /** What the client has sent already. */
  readonly head: Buffer;
}

/** The request is not one for a WebSocket, or its client has left. */
export class HandshakeError extends Error {
  override readonly name = 'HandshakeError';
}

/**
 * `protocol`: as told to the client, empty for none. A client that sends a longer message than
 * `messageBytesMax` is cut off. Throws HandshakeError.
 */
export function acceptWebSocket(
  { request, socket, head }: WebSocketRequest,
  protocol: string,
  messageBytesMax: number,
): WebSocket {
  const server = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    perMessageDeflate: false,
    maxPayload: messageBytesMax,
  });
  const outcome: { accepted?: WebSocket; refusal: string } = { refusal: 'the client has left' };
  // The library takes no names with a slash, which one of ours has: the choice is told past it.
  delete request.headers['sec-websocket-protocol'];
  server.on('headers', (headers) => {
    if (protocol !== '') headers.push(`Sec-WebSocket-Protocol: ${protocol}`);
  });
  server.on('wsClientError', (error) => {
    outcome.refusal = error.message;
  });
  server.handleUpgrade(request, socket, head, (accepted) => {
    outcome.accepted = accepted;
  });
  if (!outcome.accepted) throw new HandshakeError(outcome.refusal);
  return outcome.accepted;
}
