import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { ReviewError } from '@orch/security';
import { afterEach, expect, it } from 'vitest';
import { reviewAttemptsMax, reviewResponseBytesMax } from '../limits.js';
import { ReviewClient } from './review-client.js';

type Listener = (request: IncomingMessage, response: ServerResponse) => void;

const cleanups: (() => unknown)[] = [];

afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) await cleanup();
});

async function clientOf(listener: Listener, timeoutMs?: number) {
  const calls: IncomingMessage[] = [];
  const server = createServer((request, response) => {
    calls.push(request);
    request.resume();
    request.once('end', () => listener(request, response));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const client = new ReviewClient({
    connection: { server: `http://127.0.0.1:${port}/review`, token: 'secret' },
    use: 'token webhook',
    random: () => 0,
    ...(timeoutMs !== undefined && { timeoutMs }),
  });
  cleanups.push(
    () => client.close(),
    () => {
      server.closeAllConnections();
      server.close();
    },
  );
  return { client, calls };
}

it('ReviewClient posts the review with the credentials of the kubeconfig', async () => {
  const { client, calls } = await clientOf((_request, response) => response.end('{"a":1}'));
  expect(await client.post({ spec: {} })).toEqual({ a: 1 });
  expect(calls[0]).toMatchObject({
    method: 'POST',
    url: '/review?timeout=30s',
    headers: {
      authorization: 'Bearer secret',
      'content-type': 'application/json',
      accept: 'application/json, */*',
    },
  });
});

it('ReviewClient repeats a request to an overloaded webhook', async () => {
  const { client, calls } = await clientOf((_request, response) => {
    response.statusCode = calls.length < 2 ? 429 : 200;
    response.end('{}');
  });
  expect(await client.post({})).toEqual({});
  expect(calls).toHaveLength(2);
});

it('ReviewClient ends after the last attempt on a failing webhook', async () => {
  const { client, calls } = await clientOf((_request, response) => {
    response.statusCode = 500;
    response.end('broken');
  });
  await expect(client.post({})).rejects.toThrow(
    'an error on the server ("broken") has prevented the request from succeeding',
  );
  expect(calls).toHaveLength(reviewAttemptsMax);
});

it.each<[string, Listener, string]>([
  ['hangs', () => undefined, 'the token webhook did not respond within 300 ms'],
  [
    'hangs in the middle of its response',
    (_request, response) => response.write('{"status":'),
    'the token webhook did not respond within 300 ms',
  ],
])('ReviewClient ends at the deadline when the webhook %s', async (_what, listener, message) => {
  const { client } = await clientOf(listener, 300);
  await expect(client.post({})).rejects.toThrow(message);
});

it.each<[string, Listener, string]>([
  ['text', (_request, response) => response.end('hello'), 'json parse error: not JSON'],
  ['nothing', (_request, response) => response.end(), 'json parse error: not JSON'],
  [
    'an oversized body',
    (_request, response) => response.end(Buffer.alloc(reviewResponseBytesMax + 1, ' ')),
    `is longer than ${reviewResponseBytesMax} bytes`,
  ],
  [
    'a redirect, which it does not follow',
    (_request, response) => response.writeHead(307, { location: '/other' }).end(),
    'the server responded with the status code 307 but did not return more information',
  ],
  ['a refusal', (_request, response) => response.writeHead(403).end('no\n'), 'no'],
  [
    'a rejection of its own credentials',
    (_request, response) => response.writeHead(401).end('token secret is wrong'),
    'the server has asked for the client to provide credentials',
  ],
])('ReviewClient rejects %s without another attempt', async (_what, listener, message) => {
  const { client, calls } = await clientOf(listener);
  const error: unknown = await client.post({}).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(ReviewError);
  expect((error as ReviewError).message).toContain(message);
  expect(calls).toHaveLength(1);
});

it('ReviewClient reports an unreachable webhook without its address', async () => {
  const client = new ReviewClient({
    connection: { server: 'http://127.0.0.1:1' },
    use: 'token webhook',
    random: () => 0,
  });
  cleanups.push(() => client.close());
  await expect(client.post({})).rejects.toThrow(/^cannot reach the token webhook: ECONNREFUSED$/);
});
