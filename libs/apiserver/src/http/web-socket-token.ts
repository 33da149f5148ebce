/**
 * Browsers cannot add headers to a WebSocket: they send their bearer token as an additional
 * protocol. Invariant: the token is used only as a credential and never forwarded.
 */
import type { IncomingHttpHeaders } from 'node:http';
import { dialect } from '@orch/component';
import { listedValues } from '@orch/streaming';

const header = 'sec-websocket-protocol';

/**
 * Moves the token to the Authorization header. Several tokens, or a token without another protocol,
 * are dropped.
 */
export function takeWebSocketToken(headers: IncomingHttpHeaders): void {
  const offered = listedValues(headers[header]);
  const prefix = `${dialect().streamProtocol('base64url.bearer.authorization')}.`;
  const others = offered.filter((name) => !name.startsWith(prefix));
  if (others.length === offered.length) return;
  if (others.length === offered.length - 1 && others.length > 0 && !headers.authorization) {
    const encoded = offered.find((name) => name.startsWith(prefix))!.slice(prefix.length);
    headers.authorization = `Bearer ${Buffer.from(encoded, 'base64url').toString('utf8')}`;
  }
  headers[header] = others.join(', ');
}
