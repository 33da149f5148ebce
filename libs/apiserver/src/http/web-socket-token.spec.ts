import type { IncomingHttpHeaders } from 'node:http';
import { dialect } from '@orch/component';
import { describe, expect, it } from 'vitest';
import { takeWebSocketToken } from './web-socket-token.js';

const carrying = (token: string) =>
  `${dialect().streamProtocol('base64url.bearer.authorization')}.${Buffer.from(token).toString('base64url')}`;

function taken(protocols: string[], more: IncomingHttpHeaders = {}): IncomingHttpHeaders {
  const headers = { 'sec-websocket-protocol': protocols.join(', '), ...more };
  takeWebSocketToken(headers);
  return headers;
}

describe('a token among the protocols of a WebSocket', () => {
  it('is the bearer token', () => {
    expect(taken(['a', carrying('secret')])).toEqual({
      'sec-websocket-protocol': 'a',
      authorization: 'Bearer secret',
    });
  });

  it('is ignored alone, beside another token, or beside an Authorization header', () => {
    expect(taken([carrying('x')]).authorization).toBeUndefined();
    expect(taken(['a', carrying('x'), carrying('y')]).authorization).toBeUndefined();
    const headers = taken(['a', carrying('x')], { authorization: 'Bearer mine' });
    expect(headers).toEqual({ 'sec-websocket-protocol': 'a', authorization: 'Bearer mine' });
  });

  it('leaves other protocols alone', () => {
    expect(taken(['a', 'b'])).toEqual({ 'sec-websocket-protocol': 'a, b' });
  });
});
