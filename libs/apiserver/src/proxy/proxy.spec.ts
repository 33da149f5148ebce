import { once } from 'node:events';
import {
  createServer,
  request as httpRequest,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { StatusError } from '@orch/apimachinery';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { acceptUpgrade, type ClientUpgrade } from '../http/upgrade.js';
import { testContext } from '../testing/test-context.js';
import { forward, notReached } from './forward.js';
import { requestHeaders, responseHeaders } from './headers.js';
import { proxiedUrl, rewriteTags } from './rewrite.js';
import { parseTargetName, pathBelow } from './target-name.js';

describe('names of targets', () => {
  it.each([
    ['web', { scheme: '', name: 'web', port: '' }],
    ['web:http', { scheme: '', name: 'web', port: 'http' }],
    ['https:web:8443', { scheme: 'https', name: 'web', port: '8443' }],
    ['http:web:', { scheme: 'http', name: 'web', port: '' }],
  ])('%s', (given, expected) => {
    expect(parseTargetName(given, 'pod')).toEqual(expected);
  });

  it.each(['', 'ftp:web:1', 'a:b:c:d', ':80'])('refuse "%s"', (given) => {
    expect(() => parseTargetName(given, 'pod')).toThrow(StatusError);
  });

  it('do not change the path below the proxy', () => {
    const path = '/api/v1/namespaces/a/pods/b/proxy';
    expect(pathBelow(path, 0)).toBe('');
    expect(pathBelow(`${path}/`, 0)).toBe('/');
    expect(pathBelow(`${path}/x/y%2Fz`, 2)).toBe('/x/y%2Fz');
    expect(pathBelow(`${path}/x/`, 1)).toBe('/x/');
  });
});

describe('headers', () => {
  const client = { address: '10.0.0.1', host: 'api:6443', uri: '/p' };

  it('are not forwarded if they are hop-by-hop or credentials', () => {
    const given = {
      connection: 'keep-alive, x-own',
      'keep-alive': '5',
      'x-own': '1',
      te: 'trailers',
      authorization: 'Bearer secret',
      'impersonate-user': 'bob',
      'impersonate-extra-scope': 'a',
      host: 'api:6443',
      accept: 'text/html',
      'x-forwarded-for': '192.0.2.1',
      ':path': '/p',
    };
    expect(requestHeaders(given, client, 'pod:80', undefined)).toEqual({
      accept: 'text/html',
      host: 'pod:80',
      'x-forwarded-for': '192.0.2.1, 10.0.0.1',
      'x-forwarded-host': 'api:6443',
      'x-forwarded-proto': 'https',
      'x-forwarded-uri': '/p',
    });
  });

  it('include the upgrade that the client requests', () => {
    const headers = requestHeaders(
      { connection: 'Upgrade', upgrade: 'websocket' },
      client,
      'p',
      'websocket',
    );
    expect(headers).toMatchObject({ connection: 'Upgrade', upgrade: 'websocket' });
  });

  it('do not open the API to other origins', () => {
    const headers = responseHeaders({ 'access-control-allow-origin': '*', etag: 'x' });
    expect(headers).toEqual({ etag: 'x', 'cache-control': 'no-cache, private' });
  });
});

describe('links', () => {
  const target = { scheme: 'http', host: '10.0.0.9', port: 8080 } as const;
  const through = (url: string) => proxiedUrl(url, target, '/p/proxy');

  it.each([
    ['/a?b#c', '/p/proxy/a?b#c'],
    ['http://10.0.0.9:8080/a', '/p/proxy/a'],
    ['/p/proxy/a', '/p/proxy/a'],
    ['a/b', 'a/b'],
    ['//other/a', '//other/a'],
    ['http://other/a', 'http://other/a'],
    ['mailto:x@y', 'mailto:x@y'],
    ['#top', '#top'],
  ])('%s becomes %s', (given, expected) => {
    expect(through(given)).toBe(expected);
  });

  it('are found in tags only', () => {
    const page = `<p>href="/x"</p><a class=b href='/a'>t</a><img src=/i.png><form action="/f">`;
    expect(rewriteTags(page, through)).toBe(
      `<p>href="/x"</p><a class=b href='/p/proxy/a'>t</a><img src=/p/proxy/i.png><form action="/p/proxy/f">`,
    );
  });

  it('take any text', () => {
    fc.assert(
      fc.property(fc.string(), (page) => {
        expect(rewriteTags(page, (url) => url)).toBe(page);
      }),
    );
  });
});

describe('a proxied request', () => {
  let target: Server;
  let front: Server;
  let respond: (request: IncomingMessage, response: ServerResponse) => void;
  let failure: unknown;
  let finished: Promise<void>;
  let targetPort: () => number;

  const started = async (server: Server) => {
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
  };
  const portOf = (server: Server) => (server.address() as AddressInfo).port;
  const pass = (request: IncomingMessage, response: ServerResponse, upgrade?: ClientUpgrade) => {
    const place = { scheme: 'http', host: '127.0.0.1', port: targetPort(), path: '/x' } as const;
    const context = testContext(request, response, {}, upgrade);
    finished = forward(context, { ...place, unreachable: notReached }).catch((error: unknown) => {
      failure = error;
    });
  };

  beforeEach(async () => {
    failure = undefined;
    target = createServer((request, response) => respond(request, response));
    target.on('upgrade', (_request, socket: Socket) => {
      socket.write('HTTP/1.1 101 Yes\r\nUpgrade: echo\r\nConnection: Upgrade\r\n\r\n');
      socket.pipe(socket);
    });
    front = createServer((request, response) => pass(request, response));
    front.on('upgrade', (request, socket, head) => {
      const { response, upgrade } = acceptUpgrade(request, socket, head);
      pass(request, response, upgrade);
    });
    targetPort = () => portOf(target);
    await Promise.all([started(target), started(front)]);
  });

  afterEach(() => {
    for (const server of [target, front]) {
      server.closeAllConnections();
      server.close();
    }
  });

  const send = (options: object = {}) =>
    httpRequest({ host: '127.0.0.1', port: portOf(front), agent: false, ...options });

  it('carries bodies both ways', async () => {
    respond = (request, response) => {
      response.writeHead(201, { 'x-method': request.method ?? '' });
      request.pipe(response);
    };
    const body = Buffer.alloc(1_000_000, 'x').toString();
    const sent = send({ method: 'PUT' });
    sent.end(body);
    const [reply] = (await once(sent, 'response')) as [IncomingMessage];
    expect(reply.statusCode).toBe(201);
    expect(reply.headers['x-method']).toBe('PUT');
    expect(await text(reply)).toBe(body);
  });

  it('ends at the target when the client leaves', async () => {
    const left = new Promise<void>((done) => {
      respond = (_request, response) => {
        response.write('some');
        response.once('close', () => done());
      };
    });
    const sent = send();
    sent.on('error', () => undefined);
    sent.end();
    await once(sent, 'response');
    sent.destroy();
    await left;
    await finished;
  });

  it('reports an unreachable target', async () => {
    const gone = portOf(target);
    target.close();
    targetPort = () => gone;
    const sent = send();
    sent.on('error', () => undefined);
    sent.end();
    while (!failure) await new Promise((done) => setImmediate(done));
    expect(failure).toMatchObject({ code: 503 });
    expect(String(failure)).toContain('error trying to reach service');
  });

  it('becomes a joined connection where the target agrees', async () => {
    const sent = send({ headers: { connection: 'Upgrade', upgrade: 'echo' } });
    sent.end();
    const [reply, socket] = (await once(sent, 'upgrade')) as [IncomingMessage, Socket];
    expect(reply.headers.upgrade).toBe('echo');
    socket.end('hello');
    expect(await text(socket)).toBe('hello');
    await finished;
  });
});
