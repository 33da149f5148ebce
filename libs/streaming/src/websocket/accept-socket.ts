/**
 * Accepts WebSocket requests. Invariant: nothing is written to a rejected connection, so that the
 * caller can send an error response.
 */
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { type WebSocket, WebSocketServer } from 'ws';

export interface WebSocketRequest {
  readonly request: IncomingMessage;
  readonly socket: Duplex;
  /** Data that the client has already sent. */
  readonly head: Buffer;
}

/** The request is not a valid WebSocket request, or its client has disconnected. */
export class HandshakeError extends Error {
  override readonly name = 'HandshakeError';
}

/**
 * Accepts the WebSocket. `protocol` is the negotiated subprotocol, empty for none. A message longer
 * than `messageBytesMax` closes the connection. Throws HandshakeError.
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
  const outcome: { accepted?: WebSocket; failure: string } = {
    failure: 'the client has disconnected',
  };
  // One protocol has a slash in its name, which the library rejects; the response header is added
  // manually.
  delete request.headers['sec-websocket-protocol'];
  server.on('headers', (headers) => {
    if (protocol !== '') headers.push(`Sec-WebSocket-Protocol: ${protocol}`);
  });
  server.on('wsClientError', (error) => {
    outcome.failure = error.message;
  });
  server.handleUpgrade(request, socket, head, (accepted) => {
    outcome.accepted = accepted;
  });
  if (!outcome.accepted) throw new HandshakeError(outcome.failure);
  return outcome.accepted;
}
