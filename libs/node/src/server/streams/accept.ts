/**
 * Accepts a connection that is to be upgraded: picks the protocol, answers, and gives back what is
 * spoken on it. Throws Refusal, with nothing written, for what it does not speak.
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
import { Refusal } from '../refusal.js';

export type Upgrade = WebSocketRequest;

export type UpgradeKind = 'websocket' | 'spdy';

export function upgradeKind({ request }: Upgrade): UpgradeKind {
  const asked = (request.headers.upgrade ?? '').toLowerCase();
  if (asked === 'websocket') return 'websocket';
  if (asked === 'spdy/3.1') return 'spdy';
  throw new Refusal(400, `unable to upgrade: unable to speak "${asked}"`);
}

/** The subprotocols that the client asks for. */
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
  throw new Refusal(
    403,
    `unable to upgrade: none of the protocols ${offered.join(', ')} is spoken here`,
  );
}

/** `protocol`: empty for none. */
export function openWebSocket(upgrade: Upgrade, protocol: string): WebSocket {
  try {
    return acceptWebSocket(upgrade, protocol, webSocketMessageBytesMax);
  } catch (error) {
    if (!(error instanceof HandshakeError)) throw error;
    throw new Refusal(400, `unable to upgrade: ${error.message}`);
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
  throw new Refusal(
    403,
    `unable to upgrade: client supports [${offered.join(' ')}], server accepts [${names.join(' ')}]`,
    { 'x-accepted-stream-protocol-versions': names.join(', ') },
  );
}

/** The caller has to listen for streams at once. `protocol`: empty for none. */
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
