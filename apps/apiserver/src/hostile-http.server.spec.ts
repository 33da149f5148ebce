/**
 * Requests that servers and proxies may read differently, sent as bytes: each is refused before
 * authentication with one response, and the connection is closed, so that no bytes of it become a
 * second request.
 */
import { connect } from 'node:tls';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { RunningServer } from './testing/running-server.js';

const secretPath = '/api/v1/namespaces/default/secrets/top';
const admin = 'Authorization: Bearer secret';
/** A second request, which must get no response. */
const smuggled = `GET ${secretPath} HTTP/1.1\r\nHost: x\r\n${admin}\r\n\r\n`;

let server: RunningServer;

beforeAll(async () => {
  server = await RunningServer.start([], { users: ['limited'] });
  await server.must('POST', '/api/v1/namespaces/default/secrets', {
    metadata: { name: 'top' },
    stringData: { password: 'c2VjcmV0LXRleHQ' },
  });
});

afterAll(() => server.stop());

/** Sends bytes over a new connection. Resolves with the received text when it is closed. */
function talk(bytes: string): Promise<string> {
  return new Promise((done, fail) => {
    const socket = connect({
      ...{ host: '127.0.0.1', port: server.port },
      ...{ rejectUnauthorized: false, ALPNProtocols: ['http/1.1'] },
    });
    let received = '';
    socket.setEncoding('latin1').on('data', (chunk) => {
      received += chunk;
    });
    socket.setTimeout(8_000, () => socket.destroy(new Error(`open after: ${received}`)));
    socket.on('error', fail);
    socket.on('close', () => done(received));
    socket.write(bytes, 'latin1');
  });
}

const statusLines = (text: string) => text.match(/^HTTP\/1\.1 \d+/gm) ?? [];

const post = (headers: string, body = '') =>
  `POST ${secretPath} HTTP/1.1\r\nHost: x\r\n${admin}\r\n${headers}\r\n\r\n${body}`;
const get = (headers: string) => `GET /api HTTP/1.1\r\n${headers}\r\n\r\n`;

describe('a request whose end is ambiguous', () => {
  it.each([
    [
      'both length and chunks',
      post('Content-Length: 4\r\nTransfer-Encoding: chunked', '0\r\n\r\n'),
    ],
    ['chunks, then a length', post('Transfer-Encoding: chunked\r\nContent-Length: 4', '0\r\n\r\n')],
    ['two lengths', post('Content-Length: 0\r\nContent-Length: 50')],
    ['two equal lengths', post('Content-Length: 0\r\nContent-Length: 0')],
    ['a list of lengths', post('Content-Length: 0, 50')],
    ['a signed length', post('Content-Length: +0')],
    ['a negative length', post('Content-Length: -1')],
    ['a hexadecimal length', post('Content-Length: 0x0')],
    ['an empty length', post('Content-Length:')],
    ['a length that overflows', post('Content-Length: 18446744073709551616')],
    ['an unknown coding', post('Transfer-Encoding: xchunked', '0\r\n\r\n')],
    ['a coding after the chunks', post('Transfer-Encoding: chunked, identity', '0\r\n\r\n')],
    ['two codings', post('Transfer-Encoding: chunked\r\nTransfer-Encoding: identity', '0\r\n\r\n')],
    ['a coding with a control character', post('Transfer-Encoding: \x0bchunked', '0\r\n\r\n')],
    ['a space before the colon', post('Transfer-Encoding : chunked', '0\r\n\r\n')],
    ['a folded header', post('X-A: b\r\n Transfer-Encoding: chunked', '0\r\n\r\n')],
    ['a chunk of no valid size', post('Transfer-Encoding: chunked', '0x1\r\na\r\n0\r\n\r\n')],
    ['a chunk of negative size', post('Transfer-Encoding: chunked', '-1\r\na\r\n0\r\n\r\n')],
    ['lines without carriage return', `GET /api HTTP/1.1\nHost: x\n${admin}\n\n`],
    ['a carriage return in a header', get(`Host: x\r\nX-A: b\rTransfer-Encoding: chunked`)],
  ])('is refused: %s', async (_what, bytes) => {
    const received = await talk(bytes + smuggled);
    expect(statusLines(received)).toEqual(['HTTP/1.1 400']);
    expect(received).toMatch(/^Connection: close\r$/im);
    expect(received).not.toContain('c2VjcmV0');
  });
});

describe('a malformed head', () => {
  it.each([
    ['no host', get(admin)],
    ['two hosts', get(`Host: x\r\nHost: y\r\n${admin}`)],
    ['two credentials', get(`Host: x\r\n${admin}\r\nAuthorization: Bearer limited`)],
    ['a zero byte in a value', get(`Host: x\r\n${admin}\r\nX-A: \0`)],
    ['a zero byte in a name', get(`Host: x\r\n${admin}\r\nX\0A: b`)],
    ['a name with a space', get(`Host: x\r\n${admin}\r\nX A: b`)],
    ['a line without a colon', get(`Host: x\r\n${admin}\r\nnothing`)],
    ['an empty name', get(`Host: x\r\n${admin}\r\n: b`)],
    ['a first header that is folded', `GET /api HTTP/1.1\r\n Host: x\r\n${admin}\r\n\r\n`],
    ['a space in the target', `GET /api x HTTP/1.1\r\nHost: x\r\n${admin}\r\n\r\n`],
    ['a zero byte in the target', `GET /api\0 HTTP/1.1\r\nHost: x\r\n${admin}\r\n\r\n`],
    ['a lower-case method', `get /api HTTP/1.1\r\nHost: x\r\n${admin}\r\n\r\n`],
    ['another protocol', `GET /api HTTPS/1.1\r\nHost: x\r\n${admin}\r\n\r\n`],
    ['another version', `GET /api HTTP/1.2\r\nHost: x\r\n${admin}\r\n\r\n`],
    ['no version', `GET /api\r\nHost: x\r\n${admin}\r\n\r\n`],
  ])('is refused: %s', async (_what, bytes) => {
    const received = await talk(bytes + smuggled);
    expect(statusLines(received)).toEqual(['HTTP/1.1 400']);
    expect(received).not.toContain('c2VjcmV0');
  });
});

describe('a request target', () => {
  it.each([
    '/api/v1/namespaces/default/configmaps/../secrets/top',
    '/api/v1/namespaces/default/configmaps/%2e%2e/secrets/top',
    '/api/v1/namespaces/default/configmaps/.%2E/secrets/top',
    '/api/v1/namespaces/default/configmaps/..%2fsecrets%2ftop',
    '/api/v1/./namespaces/default/secrets/top',
    '/api/v1/namespaces/default%2Fsecrets/top',
    '/api/v1/namespaces/default/secrets/top%00',
    '/api/v1/namespaces/default/secrets/top%0d%0aX-A:%20b',
    '/healthz/../api/v1/namespaces/default/secrets/top',
    '/healthz/..%2f..%2fapi/v1/namespaces/default/secrets/top',
    '/version/%2e%2e/metrics',
    'https://x/api/v1/namespaces/default/secrets/top',
    'https://x/metrics',
    '*',
  ])('is refused without credentials and with those of the administrator: %s', async (target) => {
    for (const credential of ['X-A: b', admin]) {
      const received = await talk(`GET ${target} HTTP/1.1\r\nHost: x\r\n${credential}\r\n\r\n`);
      expect(statusLines(received)).toEqual(['HTTP/1.1 400']);
      expect(received).toContain('"kind":"Status"');
    }
  });

  it.each([
    ['//api/v1/namespaces/default/secrets/top'],
    ['/api//v1/namespaces/default/secrets/top'],
    ['/api/v1//namespaces/default/secrets/top'],
    ['/api/v1/namespaces//default/secrets/top'],
    ['/API/v1/namespaces/default/secrets/top'],
    ['/api/v1/namespaces/default/Secrets/top'],
    ['/healthz;/api/v1/namespaces/default/secrets/top'],
    ['/api/v1/namespaces/default/secrets;x/top'],
    ['/healthz\\..\\metrics'],
    ['/metrics#/healthz'],
    ['/%6detrics'],
    ['/metrics/'],
    ['/%61pi/v1/namespaces/default/secrets/top'],
    ['/api/v1/namespaces/default/%73ecrets/top'],
    ['/api/v1/watch/namespaces/default/secrets/top'],
  ])('shows a user without a role nothing: %s', async (target) => {
    for (const credential of ['X-A: b', 'Authorization: Bearer limited']) {
      const head = `Host: x\r\nConnection: close\r\n${credential}`;
      const received = await talk(`GET ${target} HTTP/1.1\r\n${head}\r\n\r\n`);
      expect(statusLines(received)).toHaveLength(1);
      expect(received).toMatch(/^HTTP\/1\.1 40[134]/);
      expect(received).not.toContain('c2VjcmV0');
    }
  });
});

describe('a header', () => {
  const asLimited = `Host: x\r\nConnection: close\r\nAuthorization: Bearer limited`;

  it.each([
    'X-HTTP-Method-Override: GET',
    'X-Original-URL: /healthz',
    'X-Rewrite-URL: /healthz',
    'X-Remote-User: admin\r\nX-Remote-Group: system:masters',
    'X-Forwarded-For: 127.0.0.1',
    'X-Forwarded-User: admin',
    'Impersonate-User: admin\r\nImpersonate-Group: system:masters',
    'impersonate-group: system:masters\r\nIMPERSONATE-USER: admin',
    'Impersonate-Group: system:masters',
    'Sec-WebSocket-Protocol: base64url.bearer.authorization.orch.io.c2VjcmV0',
  ])('gives a user without a role nothing: %s', async (header) => {
    const received = await talk(`GET ${secretPath} HTTP/1.1\r\n${asLimited}\r\n${header}\r\n\r\n`);
    expect(received).toMatch(/^HTTP\/1\.1 (?:400|401|403|500) /);
    expect(received).not.toContain('c2VjcmV0LXRleHQ');
  });

  it('that requests HTTP/2 without TLS is ignored', async () => {
    const upgrade =
      'Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__';
    const received = await talk(
      `GET ${secretPath} HTTP/1.1\r\nHost: x\r\n${upgrade}\r\n\r\n${smuggled}`,
    );
    expect(statusLines(received)).toEqual(['HTTP/1.1 403']);
  });
});

describe('a body', () => {
  it.each([
    ['longer than its chunk', post('Transfer-Encoding: chunked', '1\r\nabc\r\n0\r\n\r\n')],
    ['of an upgrade request', post('Connection: Upgrade\r\nUpgrade: x\r\nContent-Length: 2', '{}')],
  ])('is never read as a request: %s', async (_what, bytes) => {
    const received = await talk(bytes + smuggled);
    expect(statusLines(received).length).toBeLessThanOrEqual(1);
    expect(received).not.toContain('c2VjcmV0');
  });
});

describe('responses', () => {
  it('forbid browsers to interpret and store them', async () => {
    const found = await server.call('GET', '/api/v1/namespaces/default');
    const unknown = await server.call('GET', '/nothing');
    const denied = await server.call('GET', secretPath, { token: 'limited' });
    const rejected = await server.call('GET', secretPath, { token: 'invalid' });
    expect([found, unknown, denied, rejected].map(({ code }) => code)).toEqual([
      200, 404, 403, 401,
    ]);
    for (const { headers } of [found, unknown, denied, rejected]) {
      expect(headers).toMatchObject({
        'x-content-type-options': 'nosniff',
        'cache-control': 'no-cache, private',
      });
      expect(headers).not.toHaveProperty('server');
      expect(headers).not.toHaveProperty('strict-transport-security');
    }
  });

  it('demand TLS of browsers if the flag is set', async () => {
    const flag = '--strict-transport-security-directives=max-age=31536000,includeSubDomains';
    const strict = await RunningServer.start([flag]);
    try {
      const { headers } = await strict.call('GET', '/version');
      expect(headers['strict-transport-security']).toBe('max-age=31536000; includeSubDomains');
    } finally {
      await strict.stop();
    }
  });
});

describe('profiles', () => {
  const paths = [
    ...['/configz', '/debug/pprof/heap', '/debug/pprof/goroutine'],
    '/debug/pprof/profile?seconds=1',
  ];

  it.each(paths)('need a permission: %s', async (path) => {
    expect((await server.call('GET', path, { token: 'limited' })).code).toBe(403);
    expect((await server.call('GET', path, { token: null })).code).toBe(403);
    const { code, body } = await server.call('GET', path);
    expect(code).toBe(200);
    expect(Object.keys(body)).not.toEqual([]);
    expect(JSON.stringify(body)).not.toContain('c2VjcmV0');
  });
});
