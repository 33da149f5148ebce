import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { WebSocket, WebSocketServer } from 'ws';
import type { Forward } from '../forwarding.js';
import type { CommandProtocol, CommandVersion } from '../protocols.js';
import { commandSucceeded, exitStatus, type TerminalSize } from '../remote-command.js';
import { ChannelError, channels, decodeMessage, encodeMessage } from './channel-codec.js';
import { CommandSocket } from './command-socket.js';
import { serveForwardSocket } from './forward-socket.js';
import { bytesOf } from './messages.js';

const protocol = (version: CommandVersion, base64 = false): CommandProtocol => ({
  name: 'test',
  version,
  base64,
});
const everything = { stdin: true, stdout: true, stderr: true, tty: true };

let http: Server;
let server: WebSocketServer;
let clients: WebSocket[];

beforeEach(async () => {
  clients = [];
  http = createServer();
  server = new WebSocketServer({ server: http });
  http.listen(0, '127.0.0.1');
  await once(http, 'listening');
});

afterEach(() => {
  for (const client of clients) client.terminate();
  server.close();
  http.close();
});

/** Returns both ends of a connection, and the messages that the client has received so far. */
async function pair(): Promise<{ near: WebSocket; far: WebSocket; messages: Buffer[] }> {
  const { port } = http.address() as AddressInfo;
  const near = new WebSocket(`ws://127.0.0.1:${port}`);
  clients.push(near);
  near.on('error', () => undefined);
  const messages: Buffer[] = [];
  near.on('message', (data) => messages.push(bytesOf(data)));
  const [[far]] = await Promise.all([once(server, 'connection'), once(near, 'open')]);
  return { near, far: far as WebSocket, messages };
}

function said(messages: readonly Buffer[], channel: number, base64 = false): string {
  return messages
    .map((message) => decodeMessage(message, base64))
    .filter((message) => message?.channel === channel)
    .map((message) => message!.data.toString())
    .join('');
}

describe('channel messages', () => {
  it('survive encoding and decoding', () => {
    fc.assert(
      fc.property(
        fc.nat(9),
        fc.uint8Array({ maxLength: 200 }),
        fc.boolean(),
        (channel, data, text) => {
          const message = Buffer.from(encodeMessage(channel, data, text) as Buffer);
          expect(decodeMessage(message, text)).toEqual({ channel, data: Buffer.from(data) });
        },
      ),
    );
  });

  it('are rejected with invalid base64', () => {
    expect(() => decodeMessage(Buffer.from('0a%'), true)).toThrow(ChannelError);
    expect(() => decodeMessage(Buffer.from('xYQ=='), true)).toThrow(ChannelError);
    expect(decodeMessage(Buffer.alloc(0), false)).toBeUndefined();
  });
});

describe('a command over a WebSocket', () => {
  it.each([
    { version: 5, base64: false },
    { version: 4, base64: true },
  ] as const)('carries its streams, version $version', async ({ version, base64 }) => {
    const { near, far, messages } = await pair();
    const streams = new CommandSocket(far, protocol(version, base64), everything);
    const input = text(streams.stdin!);
    const sizes: TerminalSize[] = [];
    streams.onResize((size) => sizes.push(size));
    near.send(encodeMessage(channels.stdin, Buffer.from('hello'), base64));
    near.send(encodeMessage(channels.resize, Buffer.from('{"Width":80,"Height":24}'), base64));
    near.send(encodeMessage(channels.resize, Buffer.from('{"Width":"x"}'), base64));
    if (version === 5) near.send(Buffer.of(255, channels.stdin));
    streams.stdout!.write('out');
    streams.stderr!.write('err');
    if (version === 5) expect(await input).toBe('hello');
    const closed = once(near, 'close');
    await streams.finish(exitStatus(3));
    expect((await closed)[0]).toBe(1000);
    expect(said(messages, channels.stdout, base64)).toBe('out');
    expect(said(messages, channels.stderr, base64)).toBe('err');
    const { details } = JSON.parse(said(messages, channels.error, base64));
    expect(details.causes).toEqual([{ reason: 'ExitCode', message: '3' }]);
    expect(sizes).toEqual([{ columns: 80, rows: 24 }]);
    expect(await input).toBe('hello');
  });

  it('sends no status for success before version 4', async () => {
    const { far, messages } = await pair();
    await new CommandSocket(far, protocol(1), everything).finish(commandSucceeded);
    expect(said(messages, channels.error)).toBe('');
  });

  it('pauses the client while the command does not read', async () => {
    const { near, far } = await pair();
    const streams = new CommandSocket(far, protocol(5), everything);
    const chunk = encodeMessage(channels.stdin, Buffer.alloc(64 * 1024), false);
    for (let index = 0; index < 512; index += 1) near.send(chunk);
    near.send(Buffer.of(255, channels.stdin));
    await new Promise((done) => setTimeout(done, 200));
    expect(streams.stdin!.readableLength).toBeLessThan(2 * 1024 * 1024);
    let byteCount = 0;
    for await (const data of streams.stdin!) byteCount += (data as Buffer).length;
    expect(byteCount).toBe(512 * 64 * 1024);
  });

  it('ignores input after the client has closed it', async () => {
    const { near, far } = await pair();
    const streams = new CommandSocket(far, protocol(5), everything);
    const resized = new Promise((done) => streams.onResize(done));
    near.send(encodeMessage(channels.stdin, Buffer.from('all'), false));
    near.send(Buffer.of(255, channels.stdin));
    near.send(encodeMessage(channels.stdin, Buffer.from(' and more'), false));
    near.send(encodeMessage(channels.resize, Buffer.from('{"Width":80,"Height":24}'), false));
    await resized;
    expect(await text(streams.stdin!)).toBe('all');
  });

  it('notices that its client has disconnected', async () => {
    const { near, far } = await pair();
    const streams = new CommandSocket(far, protocol(5), everything);
    near.terminate();
    await once(streams.closed, 'abort');
    await streams.finish(commandSucceeded);
    expect(streams.stdout!.destroyed).toBe(true);
  });

  it('survives random input', async () => {
    const message = fc.oneof(
      fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes)),
      fc.string({ maxLength: 40 }),
      fc
        .tuple(fc.constantFrom(0, 1, 3, 4, 255), fc.string({ maxLength: 20 }))
        .map(([channel, data]) => encodeMessage(channel, Buffer.from(data), false)),
    );
    await fc.assert(
      fc.asyncProperty(
        fc.array(message, { minLength: 1, maxLength: 20 }),
        fc.constantFrom(1, 4, 5),
        fc.boolean(),
        async (messages, version, base64) => {
          const { near, far } = await pair();
          const streams = new CommandSocket(far, protocol(version as 1, base64), everything);
          streams.stdin!.resume();
          for (const one of messages) near.send(one);
          near.close();
          await new Promise<void>((done) => far.once('close', () => done()));
          expect(streams.closed.aborted).toBe(true);
        },
      ),
      { numRuns: 60 },
    );
  });
});

describe('ports over a WebSocket', () => {
  const echo: Forward = async ({ port, data, error }) => {
    if (port === 81) throw new Error('nobody is there');
    if (port === 82) error.write('careful');
    for await (const chunk of data) {
      data.write(chunk);
      if (String(chunk).includes('over')) return;
    }
  };

  it('have two channels each, which begin with the port number', async () => {
    const { near, far, messages } = await pair();
    const closed = once(near, 'close');
    const served = serveForwardSocket(far, protocol(4), [80, 81, 82], echo);
    near.send(encodeMessage(0, Buffer.from('one over'), false));
    near.send(encodeMessage(4, Buffer.from('two over'), false));
    await served;
    await closed;
    const number = (port: number) => String.fromCharCode(port & 0xff, port >> 8);
    expect(said(messages, 0)).toBe(`${number(80)}one over`);
    expect(said(messages, 1)).toBe(number(80));
    expect(said(messages, 3)).toBe(`${number(81)}nobody is there`);
    expect(said(messages, 4)).toBe(`${number(82)}two over`);
    expect(said(messages, 5)).toBe(`${number(82)}careful`);
  });

  it('end with their client after any input', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.uint8Array({ maxLength: 30 })), async (frames) => {
        const { near, far } = await pair();
        const served = serveForwardSocket(far, protocol(4), [80, 82], echo);
        for (const frame of frames) near.send(frame);
        near.terminate();
        await served;
      }),
      { numRuns: 40 },
    );
  });
});
