/**
 * Accepts upgrade requests: negotiates the protocol, responds, and returns the upgraded connection.
 * Throws HttpError before anything is written if the protocol is not supported.
 */
import {
  acceptWebSocket,
  type CommandProtocol,
  chooseProtocol,
  HandshakeError,
  listedValues,
  SpdySession,
  type WebSocketRequest,
  webSocketMessageBytesMax,
} from '@orch/streaming';
import type { WebSocket } from 'ws';
import { HttpError } from '../request/http-error.js';

export type Upgrade = WebSocketRequest;

export type UpgradeKind = 'websocket' | 'spdy';

export function upgradeKind({ request }: Upgrade): UpgradeKind {
  const requested = (request.headers.upgrade ?? '').toLowerCase();
  if (requested === 'websocket') return 'websocket';
  if (requested === 'spdy/3.1') return 'spdy';
  throw new HttpError(400, `unable to upgrade: unsupported protocol "${requested}"`);
}

/** Returns the subprotocols that the client offers. */
export function offeredSubprotocols({ request }: Upgrade): string[] {
  return listedValues(request.headers['sec-websocket-protocol']);
}

export function chooseSubprotocol(
  upgrade: Upgrade,
  known: readonly CommandProtocol[],
): CommandProtocol {
  const offered = offeredSubprotocols(upgrade);
  const chosen = chooseProtocol(offered, known);
  if (chosen) return chosen;
  throw new HttpError(
    403,
    `unable to upgrade: none of the protocols ${offered.join(', ')} is supported`,
  );
}

/** Accepts the WebSocket. `protocol` is empty for none. */
export function openWebSocket(upgrade: Upgrade, protocol: string): WebSocket {
  try {
    return acceptWebSocket(upgrade, protocol, webSocketMessageBytesMax);
  } catch (error) {
    if (!(error instanceof HandshakeError)) throw error;
    throw new HttpError(400, `unable to upgrade: ${error.message}`);
  }
}

const streamVersion = 'x-stream-protocol-version';

export function chooseStreamProtocol(
  { request }: Upgrade,
  known: readonly CommandProtocol[],
): CommandProtocol {
  const offered = listedValues(request.headers[streamVersion]);
  const chosen = chooseProtocol(offered, known);
  if (chosen) return chosen;
  const names = known.map(({ name }) => name);
  throw new HttpError(
    403,
    `unable to upgrade: client supports [${offered.join(' ')}], server accepts [${names.join(' ')}]`,
    { 'x-accepted-stream-protocol-versions': names.join(', ') },
  );
}

/**
 * Accepts the SPDY session; the caller must listen for streams immediately. `protocol` is empty for
 * none.
 */
export function acceptSpdy({ socket, head }: Upgrade, protocol: string): SpdySession {
  const lines = [
    'HTTP/1.1 101 Switching Protocols',
    'Connection: Upgrade',
    'Upgrade: SPDY/3.1',
    ...(protocol === '' ? [] : [`X-Stream-Protocol-Version: ${protocol}`]),
  ];
  socket.write(`${lines.join('\r\n')}\r\n\r\n`);
  if (head.length > 0) socket.unshift(head);
  return new SpdySession(socket, 'server');
}
