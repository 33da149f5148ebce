import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterEach, describe, expect, it } from 'vitest';
import { ConnectionPool } from './connection-pool.js';
import { ResponseSizeError } from './exchange.js';
import { type HttpPost, post } from './http-post.js';

const servers: Server[] = [];
let pool = new ConnectionPool({ tls: {} });

afterEach(() => {
  pool.close();
  pool = new ConnectionPool({ tls: {} });
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});

async function urlOf(listener: RequestListener): Promise<URL> {
  const server = createServer(listener);
  servers.push(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
}

function postTo(url: URL, options: Partial<HttpPost> = {}) {
  const signal = AbortSignal.timeout(10_000);
  return post({ url, pool, headers: {}, body: '{}', signal, responseBytesMax: 100, ...options });
}

describe('post', () => {
  it('decompresses a response, and bounds its size after decompression', async () => {
    const url = await urlOf((request, response) => {
      response.setHeader('content-encoding', 'gzip');
      response.end(gzipSync(Buffer.alloc(request.url === '/large' ? 1_000_000 : 10, 'x')));
    });
    expect((await postTo(url)).text).toBe('x'.repeat(10));
    await expect(postTo(new URL('/large', url))).rejects.toThrow(ResponseSizeError);
  });

  it('sends credentials to no other server than the first', async () => {
    const received: unknown[] = [];
    const other = await urlOf((request, response) => {
      received.push(request.headers.authorization);
      response.end('other');
    });
    const url = await urlOf((_request, response) => {
      response.writeHead(307, { location: other.href }).end();
    });
    const headers = { authorization: 'Bearer secret' };
    expect((await postTo(url, { headers, redirectCountMax: 1 })).text).toBe('other');
    expect(received).toEqual([undefined]);
    expect((await postTo(url, { headers })).statusCode).toBe(307);
  });

  it('turns the older redirects into reads without a body', async () => {
    const seen: unknown[] = [];
    const url = await urlOf((request, response) => {
      seen.push([request.method, request.url, request.headers['content-length']]);
      if (request.url === '/') response.writeHead(302, { location: '/next' });
      response.end();
    });
    await postTo(url, { redirectCountMax: 1 });
    expect(seen).toEqual([
      ['POST', '/', '2'],
      ['GET', '/next', undefined],
    ]);
  });

  it('reports a compressed response that is incomplete', async () => {
    const url = await urlOf((_request, response) => {
      response.setHeader('content-encoding', 'gzip');
      response.end(gzipSync('{}').subarray(0, 15));
    });
    await expect(postTo(url)).rejects.toMatchObject({ code: 'Z_BUF_ERROR' });
  });
});
