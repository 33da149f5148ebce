/** The streaming endpoints of the agent with real processes and all kinds of clients. */
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { createLogger, dialect, Metrics, systemClock } from '@orch/component';
import { channels, closeChannel, decodeMessage, encodeMessage } from '@orch/streaming';
import type { Pod } from '@orch/types/core/v1';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { ProcessRuntime } from '../../runtimes/process/process-runtime.js';
import { StreamServer } from './stream-server.js';

const pod = {
  metadata: { name: 'p', namespace: 'default', uid: 'u' },
  spec: { containers: [{ name: 'main' }, { name: 'waiting' }] },
} as Pod;
const workers = {
  find: (namespace: string, name: string) =>
    namespace === 'default' && name === 'p' ? pod : undefined,
};

let base: string;
let runtime: ProcessRuntime;
let server: Server;

beforeAll(async () => {
  base = mkdtempSync(join(tmpdir(), 'orch-streams-'));
  const logger = createLogger({ component: 'test', format: 'text', level: 'fatal' });
  runtime = new ProcessRuntime({
    root: join(base, 'runtime'),
    podCidr: `10.215.${process.pid % 256}.0/24`,
    owner: `test/${randomUUID()}`,
    isolation: 'plain',
    clock: systemClock,
    logger,
  });
  await runtime.start();
  const sandbox = await runtime.runSandbox({
    pod: { uid: 'u', namespace: 'default', name: 'p' },
    attempt: 0,
    hostname: 'p',
    logDirectory: join(base, 'logs'),
    hostNetwork: false,
    hostPid: false,
  });
  const container = await runtime.createContainer(sandbox, {
    name: 'main',
    attempt: 0,
    image: 'test',
    command: ['sleep', '1000'],
    args: [],
    environment: [],
    mounts: [],
    logPath: 'main.log',
    annotations: {},
  });
  await runtime.startContainer(container);
  const streams = new StreamServer({
    runtime,
    workers,
    options: { streamingIdleTimeoutMs: 1_000 },
    metrics: new Metrics(),
    clock: systemClock,
    logger,
  });
  server = createServer();
  server.on('upgrade', (request, socket, head) => {
    socket.on('error', () => socket.destroy());
    if (!streams.upgrade(request, socket, head)) socket.destroy();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
});

afterAll(async () => {
  server.close();
  await runtime.stop({ teardown: true });
  rmSync(base, { recursive: true, force: true });
});

const address = () => `ws://127.0.0.1:${(server.address() as AddressInfo).port}`;
const channelProtocol = (version: string) => dialect().streamProtocol(`${version}.channel`);

async function refusal(path: string, protocols: string[]): Promise<[number, string]> {
  const socket = new WebSocket(address() + path, protocols);
  socket.on('error', () => undefined);
  const [, answer] = (await once(socket, 'unexpected-response')) as [unknown, IncomingMessage];
  return [answer.statusCode ?? 0, await text(answer)];
}

describe('the streaming server', () => {
  it.each([
    ['/exec/default/none/main?output=1&command=true', 404, 'pod "none" not found'],
    ['/exec/default/p/other?output=1&command=true', 404, 'container not found ("other")'],
    ['/exec/default/p/waiting?output=1&command=true', 404, 'container not found ("waiting")'],
    ['/exec/default/p/other-uid/main?output=1&command=true', 404, 'not found'],
    ['/exec/default/p/main?output=1', 400, 'at least 1 command'],
    ['/exec/default/p/main?command=true', 400, 'at least 1 of stdin, stdout, stderr'],
    ['/portForward/default/p?port=x', 400, '"x" is not a port number'],
    ['/portForward/default/p', 400, 'ports'],
  ])('rejects %s', async (path, statusCode, message) => {
    const [code, said] = await refusal(path, [channelProtocol('v4')]);
    expect(code).toBe(statusCode);
    expect(said).toContain(message);
  });

  it.each([
    ['/exec/default/p/main?output=1&command=true', ['v9.other']],
    ['/attach/default/p/main?output=1', [channelProtocol('v9'), channelProtocol('v2')]],
    ['/portForward/default/p?port=80', [channelProtocol('v5')]],
  ])('rejects unsupported protocols: %s', async (path, protocols) => {
    const [code, said] = await refusal(path, protocols);
    expect(code).toBe(403);
    expect(said).toContain(protocols.join(', '));
  });

  it.each([
    ['v5.channel', '/exec/default/p/main?output=1&command=true'],
    ['v4.channel', '/exec/default/p/main?output=1&command=true'],
    ['v4.base64.channel', '/exec/default/p/main?output=1&command=true'],
    ['channel', '/exec/default/p/main?output=1&command=true'],
    ['base64.channel', '/exec/default/p/main?output=1&command=true'],
    ['v4.channel', '/portForward/default/p?port=80'],
    ['v4.base64.channel', '/portForward/default/p?port=80'],
    ['channel', '/portForward/default/p?port=80'],
    ['base64.channel', '/portForward/default/p?port=80'],
  ])('supports %s at %s', async (name, path) => {
    const socket = new WebSocket(address() + path, [dialect().streamProtocol(name)]);
    await once(socket, 'open');
    expect(socket.protocol).toBe(dialect().streamProtocol(name));
    const closed = once(socket, 'close');
    socket.close();
    await closed;
  });

  it('rejects invalid WebSocket requests with the reason', async () => {
    const { port } = server.address() as AddressInfo;
    const socket = connect({ port, host: '127.0.0.1' });
    const head = 'Host: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n';
    socket.write(`GET /exec/default/p/main?output=1&command=true HTTP/1.1\r\n${head}\r\n`);
    const said = await text(socket);
    expect(said).toContain('HTTP/1.1 400');
    expect(said).toContain('Sec-WebSocket-Key');
  });

  it('closes idle commands with the reason', async () => {
    const path = '/exec/default/p/main?input=1&output=1&command=cat';
    const socket = new WebSocket(address() + path, [channelProtocol('v5')]);
    let said = '';
    socket.on('message', (data) => {
      const message = decodeMessage(data as Buffer, false);
      if (message?.channel === channels.error) said += message.data;
    });
    await once(socket, 'close');
    expect(JSON.parse(said).message).toContain('no data was sent or received for 1 s');
  });

  it('selects the best offered protocol and handles the end of input', async () => {
    const path = '/exec/default/p/u/main?input=1&output=1&command=cat';
    const socket = new WebSocket(address() + path, [channelProtocol('v4'), channelProtocol('v5')]);
    let said = '';
    socket.on('message', (data) => {
      const message = decodeMessage(data as Buffer, false);
      if (message?.channel === channels.stdout) said += message.data;
    });
    await once(socket, 'open');
    expect(socket.protocol).toBe(channelProtocol('v5'));
    socket.send(encodeMessage(channels.stdin, Buffer.from('hello'), false));
    socket.send(Buffer.of(closeChannel, channels.stdin));
    await once(socket, 'close');
    expect(said).toBe('hello');
  });

  it('accepts messages of several megabytes, as clients send large inputs', async () => {
    const path = '/exec/default/p/u/main?input=1&output=1&command=wc&command=-c';
    const socket = new WebSocket(address() + path, [channelProtocol('v5')]);
    let said = '';
    socket.on('message', (data) => {
      const message = decodeMessage(data as Buffer, false);
      if (message?.channel === channels.stdout) said += message.data;
    });
    await once(socket, 'open');
    const bytes = Buffer.alloc(8 * 1024 * 1024);
    socket.send(encodeMessage(channels.stdin, bytes, false));
    socket.send(Buffer.of(closeChannel, channels.stdin));
    await once(socket, 'close');
    expect(said).toBe(`${bytes.length}\n`);
  });

  it('survives random requests and bytes', async () => {
    const { port } = server.address() as AddressInfo;
    const path = fc.constantFrom(
      '/exec/default/p/main?input=1&output=1&command=cat',
      '/attach/default/p/main?output=1',
      '/portForward/default/p?port=80',
      '/exec/%ff/%00',
      '/exec/default/p/main?tty=1&input=1&output=1&command=cat',
    );
    const upgrade = fc.constantFrom(
      'Upgrade: SPDY/3.1',
      `Upgrade: SPDY/3.1\r\nX-Stream-Protocol-Version: ${channelProtocol('v4')}`,
      'Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==',
      'Upgrade: websocket',
      'Upgrade: other',
    );
    await fc.assert(
      fc.asyncProperty(path, upgrade, fc.uint8Array({ maxLength: 200 }), async (to, how, bytes) => {
        const socket = connect({ port, host: '127.0.0.1' });
        socket.on('error', () => undefined);
        socket.resume();
        socket.write(`GET ${to} HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\n${how}\r\n\r\n`);
        socket.end(bytes);
        await new Promise<void>((done) => socket.once('close', () => done()));
      }),
      { numRuns: 60 },
    );
    expect(server.listening).toBe(true);
  });
});
