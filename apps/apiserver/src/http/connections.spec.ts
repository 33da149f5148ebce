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
  let respond: (response: ServerResponse) => void;

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
        respond(plain);
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

  async function send(): Promise<IncomingMessage> {
    const { port } = server.address() as AddressInfo;
    const [response] = await once(get({ host: '127.0.0.1', port, agent }), 'response');
    return response as IncomingMessage;
  }

  async function bytesOf(response: IncomingMessage): Promise<number> {
    let count = 0;
    for await (const chunk of response) count += (chunk as Buffer).length;
    return count;
  }

  it('sends a written response completely before it closes the connection', async () => {
    const body = Buffer.alloc(8 * 1024 * 1024);
    respond = (response) => response.end(body);
    const response = await send();
    const closed = connections.close(graceMs);
    expect(await bytesOf(response)).toBe(body.length);
    await closed;
  });

  it('waits for a running request, then closes its connection', async () => {
    let running: ServerResponse | undefined;
    respond = (response) => {
      running = response;
      response.write('begun');
    };
    const response = await send();
    const closed = connections.close(graceMs);
    running!.end(', done');
    expect(await bytesOf(response)).toBe('begun, done'.length);
    await closed;
  });

  it('closes idle connections', async () => {
    respond = (response) => response.end('done');
    await bytesOf(await send());
    // Resolves only when every connection is closed: the grace exceeds the timeout of the test.
    await connections.close(graceMs);
    expect(server.listening).toBe(false);
  });

  it('closes the connection of a request that exceeds the grace', async () => {
    respond = (response) => response.write('begun');
    const response = await send();
    await connections.close(10);
    await expect(bytesOf(response)).rejects.toThrow(/aborted/);
  });

  it('closes upgraded connections after the grace, and not earlier', async () => {
    server.on('upgrade', (_request, socket: Socket) => {
      connections.upgrading(socket);
      socket.on('error', () => socket.destroy());
      socket.write('HTTP/1.1 101 Yes\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n');
      socket.pipe(socket);
    });
    const { port } = server.address() as AddressInfo;
    const headers = { connection: 'Upgrade', upgrade: 'echo' };
    const request = get({ host: '127.0.0.1', port, agent, headers });
    const [, socket] = (await once(request, 'upgrade')) as [unknown, Socket];
    socket.on('error', () => undefined);
    const closed = connections.close(300);
    socket.write('still here');
    expect(String((await once(socket, 'data'))[0])).toBe('still here');
    const gone = new Promise<void>((done) => socket.once('close', () => done()));
    await Promise.all([closed, gone]);
  });
});
