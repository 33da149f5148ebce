import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { DialAddress } from '@orch/component';
import { afterEach, describe, expect, it } from 'vitest';
import { webhookIdleConnectionsMax } from '../limits.js';
import { ConnectionPool } from './connection-pool.js';
import { ConnectionClosedError, type ExchangeRequest, ResponseSizeError } from './exchange.js';

/** Responds to requests as the test wants, byte by byte. */
class RawServer {
  readonly heads: string[] = [];
  readonly sockets: Socket[] = [];
  respond: (socket: Socket) => void = (socket) => socket.write(okResponse);
  private readonly server: Server;

  private constructor(onRequest: (socket: Socket, head: string) => void) {
    this.server = createServer((socket) => {
      this.sockets.push(socket);
      socket.on('error', () => socket.destroy());
      socket.on('data', (chunk: Buffer) => onRequest(socket, chunk.toString('latin1')));
    });
  }

  static async listen(): Promise<RawServer> {
    const server: RawServer = new RawServer((socket, text) => {
      if (!text.includes('HTTP/1.1')) return;
      server.heads.push(text.slice(0, text.indexOf('\r\n\r\n')));
      server.respond(socket);
    });
    server.server.listen(0, '127.0.0.1');
    await once(server.server, 'listening');
    return server;
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  get openCount(): number {
    return this.sockets.filter(({ destroyed }) => !destroyed).length;
  }

  close(): void {
    for (const socket of this.sockets) socket.destroy();
    this.server.close();
  }
}

const okResponse = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}';
const cleanups: (() => void)[] = [];

afterEach(() => {
  for (const cleanup of cleanups.splice(0)) cleanup();
});

async function serverAndPool() {
  const server = await RawServer.listen();
  const pool = new ConnectionPool({ tls: {} });
  cleanups.push(
    () => pool.close(),
    () => server.close(),
  );
  return { server, pool };
}

function requestTo(port: number, more: Partial<ExchangeRequest> = {}): ExchangeRequest {
  return {
    url: new URL(`http://127.0.0.1:${port}/review?timeout=10s`),
    method: 'POST',
    headers: { host: 'hooks.example.com' },
    body: '{}',
    signal: AbortSignal.timeout(10_000),
    responseBytesMax: 1_000,
    ...more,
  };
}

describe('ConnectionPool', () => {
  it('sends no connection header, and reuses the connection', async () => {
    const { server, pool } = await serverAndPool();
    for (let count = 0; count < 3; count += 1) {
      const { statusCode, body } = await pool.exchange(requestTo(server.port));
      expect([statusCode, body.toString()]).toEqual([200, '{}']);
    }
    expect(server.sockets).toHaveLength(1);
    expect(server.heads[2]?.split('\r\n')).toEqual([
      'POST /review?timeout=10s HTTP/1.1',
      'host: hooks.example.com',
      'content-length: 2',
    ]);
  });

  it('opens another connection if the server closes the reused one', async () => {
    const { server, pool } = await serverAndPool();
    await pool.exchange(requestTo(server.port));
    server.respond = (socket) => {
      if (socket === server.sockets[0]) socket.destroy();
      else socket.write(okResponse);
    };
    expect((await pool.exchange(requestTo(server.port))).statusCode).toBe(200);
    expect(server.heads).toHaveLength(3);
  });

  it('reports a new connection that closes before the response', async () => {
    const { server, pool } = await serverAndPool();
    server.respond = (socket) => socket.destroy();
    const error: unknown = await pool.exchange(requestTo(server.port)).catch((thrown) => thrown);
    expect(error).toBeInstanceOf(ConnectionClosedError);
    expect(server.heads).toHaveLength(1);
  });

  it.each([
    ['length', 'content-length: 100\r\n\r\n{'],
    ['chunks', 'transfer-encoding: chunked\r\n\r\n1\r\n{\r\n'],
  ])('reports a connection that closes within a body with %s', async (_what, end) => {
    const { server, pool } = await serverAndPool();
    await pool.exchange(requestTo(server.port));
    for (const close of ['destroy', 'end'] as const) {
      server.respond = (socket) => {
        socket.write(`HTTP/1.1 200 OK\r\n${end}`, () => socket[close]());
      };
      const error: unknown = await pool.exchange(requestTo(server.port)).catch((thrown) => thrown);
      expect(error).toBeInstanceOf(Error);
      expect(error).not.toBeInstanceOf(DOMException);
    }
    expect(server.heads).toHaveLength(3);
  });

  it.each([
    ['sends nothing', ''],
    ['sends half a head', 'HTTP/1.1 200 OK\r\ncontent-'],
    ['sends half a body', 'HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{'],
  ])('ends with the signal when the server %s', async (_what, text) => {
    const { server, pool } = await serverAndPool();
    const ending = new AbortController();
    server.respond = (socket) => {
      if (text !== '') socket.write(text);
      setImmediate(() => ending.abort(new Error('too late')));
    };
    const request = requestTo(server.port, { signal: ending.signal });
    await expect(pool.exchange(request)).rejects.toThrow('too late');
    await expect.poll(() => server.openCount).toBe(0);
  });

  it('ends a connection that is being opened', async () => {
    const { server, pool } = await serverAndPool();
    const ending = new AbortController();
    const url = new URL(`https://127.0.0.1:${server.port}/`);
    const ended = pool.exchange(requestTo(server.port, { url, signal: ending.signal }));
    await expect.poll(() => server.openCount).toBe(1);
    ending.abort(new Error('too late'));
    await expect(ended).rejects.toThrow('too late');
    await expect.poll(() => server.openCount).toBe(0);
  });

  it('ends a connection that is being dialed', async () => {
    const server = await RawServer.listen();
    cleanups.push(() => server.close());
    const dialed: DialAddress[] = [];
    let open: (stream: Duplex) => void = () => undefined;
    const dial = (address: DialAddress) => {
      dialed.push(address);
      return new Promise<Duplex>((resolve) => {
        open = resolve;
      });
    };
    const addresses = new Map([['https://a.b.svc', { host: '10.0.0.1', port: 8443 }]]);
    const pool = new ConnectionPool({ tls: {}, dial, addresses });
    const ending = new AbortController();
    const url = new URL('https://a.b.svc/');
    const ended = pool.exchange(requestTo(0, { url, signal: ending.signal }));
    await expect.poll(() => dialed).toEqual([{ host: '10.0.0.1', port: 8443 }]);
    ending.abort(new Error('too late'));
    await expect(ended).rejects.toThrow('too late');
    const stream = connect(server.port, '127.0.0.1');
    open(stream);
    await once(stream, 'close');
  });

  it('bounds the response and the idle connections', async () => {
    const { server, pool } = await serverAndPool();
    const request = () => pool.exchange(requestTo(server.port, { responseBytesMax: 1 }));
    await expect(request()).rejects.toThrow(ResponseSizeError);
    const count = webhookIdleConnectionsMax + 3;
    await Promise.all(Array.from({ length: count }, () => pool.exchange(requestTo(server.port))));
    await expect.poll(() => server.openCount).toBe(webhookIdleConnectionsMax);
  });

  it('closes connections after their requests when it retires', async () => {
    const { server, pool } = await serverAndPool();
    let respond = () => undefined as unknown;
    server.respond = (socket) => {
      respond = () => socket.write(okResponse);
    };
    const pending = pool.exchange(requestTo(server.port));
    await expect.poll(() => server.heads).toHaveLength(1);
    pool.retire();
    respond();
    expect((await pending).statusCode).toBe(200);
    await expect.poll(() => server.openCount).toBe(0);
  });

  it('opens no connection again that the server closed while idle', async () => {
    const { server, pool } = await serverAndPool();
    server.respond = (socket) =>
      socket.end(okResponse.replace('OK\r\n', 'OK\r\nconnection: close\r\n'));
    for (let count = 0; count < 2; count += 1) await pool.exchange(requestTo(server.port));
    expect(server.sockets).toHaveLength(2);
    await expect.poll(() => server.openCount).toBe(0);
  });
});
