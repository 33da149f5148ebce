import { once } from 'node:events';
import { createServer, get, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { watchQueueEventsMax } from '@orch/registry';
import { describe, expect, it } from 'vitest';
import { WebSocket, WebSocketServer } from 'ws';

import { testContext } from '../testing/test-context.js';
import { type EndReason, responseChannel, webSocketChannel } from './watch-channel.js';
import { chunkFrame, WatchStream } from './watch-stream.js';

interface Opened {
  readonly stream: WatchStream;
  readonly response: IncomingMessage;
  readonly ended: Promise<EndReason>;
  close(): void;
}

async function opened(pull?: (stream: WatchStream) => void): Promise<Opened> {
  let stream: WatchStream | undefined;
  let resolveEnded: (reason: EndReason) => void = () => undefined;
  const ended = new Promise<EndReason>((resolve) => {
    resolveEnded = resolve;
  });
  const server = createServer((request: IncomingMessage, response: ServerResponse) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.flushHeaders();
    const channel = responseChannel(testContext(request, response));
    stream = new WatchStream(channel, resolveEnded, pull && (() => pull(stream!)));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const outgoing = get({ host: '127.0.0.1', port, agent: false });
  const [response] = await once(outgoing, 'response');
  return {
    stream: stream!,
    response,
    ended,
    close() {
      outgoing.destroy();
      server.close();
    },
  };
}

function event(text: string): Buffer {
  return chunkFrame([Buffer.from(text), Buffer.from('\n')]);
}

async function textOf(response: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of response) text += chunk;
  return text;
}

describe('watch streams', () => {
  it('send events in order and end the response completely', async () => {
    const { stream, response, ended, close } = await opened();
    const lines = Array.from({ length: 1_000 }, (_, index) => `event ${index}`);
    for (const line of lines) stream.push(event(line));
    await stream.whenDrained();
    stream.push(event('last'));
    stream.end('timeout');
    expect(await textOf(response)).toBe(`${[...lines, 'last'].join('\n')}\n`);
    expect(await ended).toBe('timeout');
    close();
  });

  it('pull what waits before a write, and before the end', async () => {
    const waiting = ['first'];
    const pull = (stream: WatchStream) => {
      for (const text of waiting.splice(0)) stream.push(event(text));
    };
    const { stream, response, ended, close } = await opened(pull);
    const text = textOf(response);
    stream.wake();
    while (waiting.length > 0) await new Promise((done) => setImmediate(done));
    waiting.push('second', 'third');
    stream.end('timeout');
    expect(await text).toBe('first\nsecond\nthird\n');
    expect(await ended).toBe('timeout');
    close();
  });

  it('pull the events that waited for a slow client', async () => {
    const waiting: string[] = [];
    const pull = (stream: WatchStream) => {
      for (const text of waiting.splice(0)) stream.push(event(text));
    };
    const { stream, response, ended, close } = await opened(pull);
    response.pause();
    const large = 'x'.repeat(20_000_000);
    stream.push(event(large));
    while (stream.queuedBytes > 0) await new Promise((done) => setImmediate(done));
    waiting.push('late');
    stream.wake();
    await new Promise((done) => setImmediate(done));
    expect(waiting).toEqual(['late']);
    const text = textOf(response);
    while (waiting.length > 0) await new Promise((done) => setImmediate(done));
    stream.end('timeout');
    expect((await text).slice(large.length)).toBe('\nlate\n');
    expect(await ended).toBe('timeout');
    close();
  });

  it('end once when the pull ends them', async () => {
    const waiting = ['last'];
    const { stream, response, ended, close } = await opened((stream) => {
      if (waiting.length === 0) return;
      stream.push(event(waiting.pop()!));
      stream.end('expired');
    });
    stream.wake();
    expect(await textOf(response)).toBe('last\n');
    expect(await ended).toBe('expired');
    close();
  });

  it('end for a slow client, and drop nothing before that', async () => {
    const { stream, response, ended, close } = await opened();
    response.pause();
    const large = event('x'.repeat(10_000));
    for (let count = 0; count <= watchQueueEventsMax * 2 && !stream.isEnded; count += 1) {
      stream.push(large);
    }
    expect(await ended).toBe('slow');
    expect(stream.isEnded).toBe(true);
    close();
  });

  it('end when the client disconnects', async () => {
    const { stream, ended, close } = await opened();
    close();
    expect(await ended).toBe('client');
    stream.push(event('nobody hears this'));
    expect(stream.queuedBytes).toBe(0);
  });
});

describe('watch streams over WebSocket', () => {
  async function joined() {
    const server = new WebSocketServer({ host: '127.0.0.1', port: 0 });
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const client = new WebSocket(`ws://127.0.0.1:${port}`);
    const [[near, request]] = await Promise.all([
      once(server, 'connection') as Promise<[WebSocket, IncomingMessage]>,
      once(client, 'open'),
    ]);
    let resolveEnded: (reason: EndReason) => void = () => undefined;
    const ended = new Promise<EndReason>((resolve) => {
      resolveEnded = resolve;
    });
    const stream = new WatchStream(webSocketChannel(near, request.socket, false), resolveEnded);
    const close = () => {
      client.terminate();
      server.close();
    };
    return { stream, client, ended, close };
  }

  it('send each event as a message, in order, then close', async () => {
    const { stream, client, ended, close } = await joined();
    const heard: string[] = [];
    client.on('message', (data) => heard.push(String(data)));
    const closed = once(client, 'close');
    const events = Array.from({ length: 1_000 }, (_, index) => `event ${index}`);
    for (const text of events) stream.push(Buffer.from(text));
    await stream.whenDrained();
    stream.end('timeout');
    expect((await closed)[0]).toBe(1000);
    expect(heard).toEqual(events);
    expect(await ended).toBe('timeout');
    close();
  });

  it('end for a slow client, which has lost nothing before that', async () => {
    const { stream, client, ended, close } = await joined();
    const heard: number[] = [];
    client.on('message', (data) => heard.push(Number(String(data).slice(0, 6))));
    client.pause();
    const filler = 'x'.repeat(10_000);
    for (let count = 0; !stream.isEnded; count += 1) {
      stream.push(Buffer.from(`${String(count).padStart(6, '0')}${filler}`));
      if (count % 100 === 0) await new Promise((done) => setImmediate(done));
    }
    expect(await ended).toBe('slow');
    const closed = once(client, 'close');
    client.resume();
    expect((await closed)[0]).toBe(1000);
    expect(heard.length).toBeGreaterThan(0);
    expect(heard).toEqual(heard.map((_, index) => index));
    close();
  });

  it('end when the client disconnects', async () => {
    const { ended, close } = await joined();
    close();
    expect(await ended).toBe('client');
  });
});
