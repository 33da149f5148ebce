import { once } from 'node:events';
import { createServer, get, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it } from 'vitest';
import { watchQueueEventsMax } from '../limits.js';
import { newExchange } from '../response/exchange.js';
import { chunkFrame, type EndReason, WatchStream } from './watch-stream.js';

interface Opened {
  readonly stream: WatchStream;
  readonly answer: IncomingMessage;
  readonly ended: Promise<EndReason>;
  close(): void;
}

async function opened(): Promise<Opened> {
  let stream: WatchStream | undefined;
  let resolveEnded: (reason: EndReason) => void = () => undefined;
  const ended = new Promise<EndReason>((resolve) => {
    resolveEnded = resolve;
  });
  const server = createServer((request: IncomingMessage, response: ServerResponse) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.flushHeaders();
    stream = new WatchStream(newExchange(request, response), resolveEnded);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const outgoing = get({ host: '127.0.0.1', port, agent: false });
  const [answer] = await once(outgoing, 'response');
  return {
    stream: stream!,
    answer,
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

async function textOf(answer: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of answer) text += chunk;
  return text;
}

describe('watch streams', () => {
  it('send events in order and end as a whole answer', async () => {
    const { stream, answer, ended, close } = await opened();
    const lines = Array.from({ length: 1_000 }, (_, index) => `event ${index}`);
    for (const line of lines) stream.push(event(line));
    await stream.whenDrained();
    stream.push(event('last'));
    stream.end('timeout');
    expect(await textOf(answer)).toBe(`${[...lines, 'last'].join('\n')}\n`);
    expect(await ended).toBe('timeout');
    close();
  });

  it('end for a client that does not keep up, and drop nothing before that', async () => {
    const { stream, answer, ended, close } = await opened();
    answer.pause();
    const large = event('x'.repeat(10_000));
    for (let count = 0; count <= watchQueueEventsMax * 2 && !stream.isEnded; count += 1) {
      stream.push(large);
    }
    expect(await ended).toBe('slow');
    expect(stream.isEnded).toBe(true);
    close();
  });

  it('end when the client leaves', async () => {
    const { stream, ended, close } = await opened();
    close();
    expect(await ended).toBe('client');
    stream.push(event('nobody hears this'));
    expect(stream.queuedBytes).toBe(0);
  });
});
