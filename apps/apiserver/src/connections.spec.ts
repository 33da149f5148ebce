import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createSecureServer, type Http2SecureServer } from 'node:http2';
import { Agent, get } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ensureSelfSigned, systemClock } from '@orch/component';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Connections } from './connections.js';

const graceMs = 30_000;

describe('Connections', () => {
  let directory: string;
  let server: Http2SecureServer;
  let connections: Connections;
  let agent: Agent;
  let answer: (response: ServerResponse) => void;

  beforeEach(async () => {
    directory = mkdtempSync(join(tmpdir(), 'orch-connections-'));
    const pair = await ensureSelfSigned(
      directory,
      'server',
      { commonName: 'server', hosts: ['127.0.0.1'], usages: ['server'], validMs: 3_600_000 },
      systemClock,
    );
    server = createSecureServer(
      { cert: pair.certificatePem, key: pair.keyPem, allowHTTP1: true },
      (_request, response) => {
        const plain = response as never as ServerResponse;
        connections.began(plain);
        answer(plain);
      },
    );
    connections = new Connections(server);
    agent = new Agent({ keepAlive: true, rejectUnauthorized: false });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
  });

  afterEach(() => {
    agent.destroy();
    rmSync(directory, { recursive: true, force: true });
  });

  async function ask(): Promise<IncomingMessage> {
    const { port } = server.address() as AddressInfo;
    const [response] = await once(get({ host: '127.0.0.1', port, agent }), 'response');
    return response as IncomingMessage;
  }

  async function bytesOf(response: IncomingMessage): Promise<number> {
    let count = 0;
    for await (const chunk of response) count += (chunk as Buffer).length;
    return count;
  }

  it('lets an answer that is written leave as a whole before the connection ends', async () => {
    const body = Buffer.alloc(8 * 1024 * 1024);
    answer = (response) => response.end(body);
    const response = await ask();
    const closed = connections.close(graceMs);
    expect(await bytesOf(response)).toBe(body.length);
    await closed;
  });

  it('waits for a request that runs, and ends its connection then', async () => {
    let running: ServerResponse | undefined;
    answer = (response) => {
      running = response;
      response.write('begun');
    };
    const response = await ask();
    const closed = connections.close(graceMs);
    running!.end(', done');
    expect(await bytesOf(response)).toBe('begun, done'.length);
    await closed;
  });

  it('ends connections that are kept for further requests', async () => {
    answer = (response) => response.end('done');
    await bytesOf(await ask());
    // Resolves only once every connection has ended: the grace is longer than the test may take.
    await connections.close(graceMs);
    expect(server.listening).toBe(false);
  });

  it('cuts what does not end in time', async () => {
    answer = (response) => response.write('begun');
    const response = await ask();
    await connections.close(10);
    await expect(bytesOf(response)).rejects.toThrow(/aborted/);
  });

  it('lets upgraded connections go on within the grace, and cuts them after it', async () => {
    server.on('upgrade', (_request, socket: Socket) => {
      connections.upgrading(socket);
      socket.on('error', () => socket.destroy());
      socket.write('HTTP/1.1 101 Yes\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n');
      socket.pipe(socket);
    });
    const { port } = server.address() as AddressInfo;
    const headers = { connection: 'Upgrade', upgrade: 'echo' };
    const asked = get({ host: '127.0.0.1', port, agent, headers });
    const [, socket] = (await once(asked, 'upgrade')) as [unknown, Socket];
    socket.on('error', () => undefined);
    const closed = connections.close(300);
    socket.write('still here');
    expect(String((await once(socket, 'data'))[0])).toBe('still here');
    const gone = new Promise<void>((done) => socket.once('close', () => done()));
    await Promise.all([closed, gone]);
  });
});
