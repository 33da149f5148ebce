import { once } from 'node:events';
import {
  createServer,
  request as httpRequest,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  type Server,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer, text } from 'node:stream/consumers';
import { gzipSync } from 'node:zlib';
import { StatusError } from '@orch/apimachinery';
import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { splitTarget } from '../http/query.js';
import { parseRequestInfo } from '../http/request-info.js';
import { aggregatedRequestsMax, proxyHeaderBytesMax } from '../limits.js';
import {
  AggregatedBackend,
  type BackendKeys,
  backendKeys,
  type Listener,
} from '../testing/aggregated-backend.js';
import { testContext } from '../testing/test-context.js';
import type { AggregatedServer } from './aggregated-server.js';
import { forwardToServer } from './forward-to-server.js';

const path = '/apis/wares.example.com/v1/namespaces/a/wares';

describe('a request for an aggregated server', () => {
  let keys: BackendKeys;
  let front: Server;
  let target: AggregatedServer;
  let releases: number;
  let failures: unknown[];
  let requestTimeoutMs: number;
  let backends: AggregatedBackend[];

  beforeAll(async () => {
    keys = await backendKeys();
  });

  beforeEach(async () => {
    releases = 0;
    failures = [];
    backends = [];
    requestTimeoutMs = 30_000;
    front = createServer((request, response) => {
      const context = testContext(request, response, { requestTimeoutMs });
      const { path: own, query } = splitTarget(request.url!);
      context.info = parseRequestInfo(request.method!, own, query.flag('watch'));
      context.query = query;
      context.isLongRunning = context.info.verb === 'watch';
      context.user = { name: 'alice', uid: '', groups: ['dev'], extra: {} };
      context.seat = {
        release: () => {
          releases += 1;
        },
      };
      forwardToServer(context, target).catch((error: unknown) => {
        failures.push(error);
        response.destroy();
      });
    });
    front.listen(0, '127.0.0.1');
    await once(front, 'listening');
  });

  afterEach(() => {
    target.reconnect();
    for (const backend of backends) backend.close();
    front.closeAllConnections();
    front.close();
  });

  async function behind(listener: Listener): Promise<AggregatedBackend> {
    const backend = await new AggregatedBackend(keys, listener).listen();
    backends.push(backend);
    target = backend.registered();
    return backend;
  }

  async function get(url = path, headers: OutgoingHttpHeaders = {}): Promise<IncomingMessage> {
    const { port } = front.address() as AddressInfo;
    const outgoing = httpRequest({ host: '127.0.0.1', port, path: url, headers, agent: false });
    outgoing.end();
    const [response] = (await once(outgoing, 'response')) as [IncomingMessage];
    return response;
  }

  async function textOf(url = path): Promise<[number | undefined, string]> {
    const response = await get(url);
    return [response.statusCode, await text(response)];
  }

  it('shows the front-proxy certificate and names the user, over one connection', async () => {
    const backend = await behind((_request, response) => response.end('{}'));
    expect(await textOf(`${path}?limit=5`)).toEqual([200, '{}']);
    expect(await textOf()).toEqual([200, '{}']);
    const [first] = backend.requests;
    expect(first?.url).toBe(`${path}?limit=5`);
    expect(first?.headers).toMatchObject({ 'x-remote-user': 'alice', 'x-remote-group': 'dev' });
    expect(backend.clientNames).toEqual(['front-proxy-client', 'front-proxy-client']);
    expect(backend.connectionCount).toBe(1);
    expect(releases).toBe(2);
  });

  it('gets a compressed body unchanged', async () => {
    const body = gzipSync('x'.repeat(300_000));
    await behind((_request, response) => {
      response.writeHead(200, { 'content-encoding': 'gzip' }).end(body);
    });
    const response = await get(path, { 'accept-encoding': 'gzip' });
    expect(response.headers['content-encoding']).toBe('gzip');
    expect((await buffer(response)).equals(body)).toBe(true);
  });

  it('gets the events of a watch as they arrive, beyond the time limit of requests', async () => {
    requestTimeoutMs = 1;
    let finish: () => void = () => undefined;
    await behind((_request, response) => {
      response.write('first\n');
      finish = () => response.end('last\n');
    });
    const response = await get(`${path}?watch=1`);
    const events: string[] = [];
    for await (const chunk of response) {
      events.push(String(chunk));
      if (events.length === 1) finish();
    }
    expect(events.join('')).toBe('first\nlast\n');
  });

  it('ends with 503 while the server is not available', async () => {
    const backend = await behind((_request, response) => response.end());
    target = backend.registered({}, false);
    expect(await textOf()).toEqual([503, 'service unavailable\n']);
    expect(backend.requests).toHaveLength(0);
  });

  it('ends with 503 if the certificate of the server is not trusted', async () => {
    const backend = await behind((_request, response) => response.end('{}'));
    const other = await backendKeys();
    const caBundle = Buffer.from(other.authority.certificatePem).toString('base64');
    target = backend.registered({ caBundle });
    const [statusCode, reason] = await textOf();
    expect(statusCode).toBe(503);
    expect(reason).toMatch(/^error trying to reach service: /);
    target = backend.registered({ caBundle: '', insecureSkipTLSVerify: true });
    expect(await textOf()).toEqual([200, '{}']);
  });

  it('ends with 504 at its time limit if the server never responds', async () => {
    const backend = await behind(() => undefined);
    requestTimeoutMs = 300;
    const [statusCode, reason] = await textOf();
    expect(statusCode).toBe(504);
    expect(JSON.parse(reason)).toMatchObject({ code: 504, reason: 'Timeout' });
    expect(backend.requests).toHaveLength(1);
    expect(releases).toBe(1);
  });

  it('is aborted at its time limit if the server never finishes', async () => {
    await behind((_request, response) => response.write('part'));
    requestTimeoutMs = 300;
    const response = await get();
    expect(response.statusCode).toBe(200);
    await expect(text(response)).rejects.toThrow('aborted');
  });

  it('is aborted if the server dies in the middle of the response', async () => {
    await behind((request, response) => {
      response.write('part', () => request.socket.destroy());
    });
    await expect(text(await get())).rejects.toThrow('aborted');
    expect(failures).toEqual([]);
  });

  it('ends with 503 if the head of the response is endless', async () => {
    await behind(({ socket }) => {
      socket.write('HTTP/1.1 200 OK\r\n');
      const line = `x-filler: ${'x'.repeat(proxyHeaderBytesMax / 4)}\r\n`;
      const more = () => {
        if (!socket.destroyed) socket.write(line, more);
      };
      more();
    });
    const [statusCode, reason] = await textOf();
    expect([statusCode, reason.slice(0, 31)]).toEqual([503, 'error trying to reach service: ']);
  });

  it('ends with 503 if the response is not HTTP', async () => {
    await behind(({ socket }) => {
      socket.end('SSH-2.0-OpenSSH_9.2\r\n');
    });
    expect((await textOf())[0]).toBe(503);
  });

  it('gets a redirect, which is not followed', async () => {
    const backend = await behind((_request, response) => {
      response.writeHead(302, { location: 'https://192.0.2.1/elsewhere' }).end();
    });
    const { statusCode, headers } = await get();
    expect([statusCode, headers.location]).toEqual([302, 'https://192.0.2.1/elsewhere']);
    expect(backend.requests).toHaveLength(1);
  });

  it('is repeated if the server has closed the pooled connection', async () => {
    const backend = await behind((request, response) => {
      if (backend.requests.length === 2) request.socket.destroy();
      else response.end('{}');
    });
    expect(await textOf()).toEqual([200, '{}']);
    expect(await textOf()).toEqual([200, '{}']);
    expect(backend.connectionCount).toBe(2);
  });

  it('is rejected with 429 if too many are in flight, until one ends', async () => {
    await behind((_request, response) => response.end('{}'));
    const leave = Array.from({ length: aggregatedRequestsMax }, () => target.enter(false));
    await expect(get()).rejects.toThrow();
    expect(failures[0]).toBeInstanceOf(StatusError);
    expect(failures[0]).toMatchObject({ code: 429 });
    leave[0]?.();
    await vi.waitFor(async () => expect(await textOf()).toEqual([200, '{}']));
  });
});
