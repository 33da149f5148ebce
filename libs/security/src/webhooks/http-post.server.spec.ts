import { once } from 'node:events';
import { Agent, createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterEach, describe, expect, it } from 'vitest';
import { type HttpPost, post, ResponseSizeError } from './http-post.js';

const servers: Server[] = [];

afterEach(() => {
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
  const agent = new Agent({ keepAlive: true });
  const signal = AbortSignal.timeout(10_000);
  return post({ url, agent, headers: {}, body: '{}', signal, responseBytesMax: 100, ...options });
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

  it('opens another connection if the server closed the reused one', async () => {
    let requestCount = 0;
    const url = await urlOf((request, response) => {
      requestCount += 1;
      if (requestCount === 2) request.socket.destroy();
      else response.end(String(requestCount));
    });
    const agent = new Agent({ keepAlive: true });
    expect((await postTo(url, { agent })).text).toBe('1');
    // The connection returns to the agent in a later turn.
    await new Promise((resolve) => setImmediate(resolve));
    expect((await postTo(url, { agent })).text).toBe('3');
    agent.destroy();
  });

  it('reports a connection that closes before the response', async () => {
    const url = await urlOf((request) => request.socket.destroy());
    await expect(postTo(url)).rejects.toMatchObject({ code: 'ECONNRESET' });
  });
});
