/** Watches and logs over WebSocket, and ignored upgrades, on a complete server. */
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect } from 'node:tls';
import { dialect, ensureSelfSigned, systemClock } from '@orch/component';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { WebSocket } from 'ws';
import { RunningServer, refusal } from './testing/running-server.js';

const configMaps = '/api/v1/namespaces/default/configmaps';
const protobuf = dialect().protobufMediaType;

let server: RunningServer;

beforeAll(async () => {
  server = await RunningServer.start();
}, 30_000);

afterAll(() => server.stop());

interface Message {
  readonly data: Buffer;
  readonly isBinary: boolean;
}

/** Resolves with all messages and the close code. */
async function messagesOf(socket: WebSocket): Promise<{ messages: Message[]; code: number }> {
  const messages: Message[] = [];
  socket.on('message', (data, isBinary) => messages.push({ data: data as Buffer, isBinary }));
  const [code] = (await once(socket, 'close')) as [number];
  return { messages, code };
}

/** Resolves with the first messages after closing the socket. */
async function firstMessages(socket: WebSocket, count: number): Promise<Message[]> {
  const messages: Message[] = [];
  await new Promise<void>((done, fail) => {
    socket.once('error', fail);
    socket.on('message', (data, isBinary) => {
      messages.push({ data: data as Buffer, isBinary });
      if (messages.length === count) done();
    });
  });
  socket.close();
  await once(socket, 'close');
  return messages;
}

async function writeLife(name: string): Promise<void> {
  await server.must('POST', configMaps, { metadata: { name } });
  await server.must('PUT', `${configMaps}/${name}`, { metadata: { name }, data: { a: 'b' } });
  await server.must('DELETE', `${configMaps}/${name}`);
}

describe('a watch over WebSocket', () => {
  it('sends each event of a plain watch in a text message', async () => {
    const { metadata } = await server.must('GET', configMaps);
    const query = `resourceVersion=${metadata.resourceVersion}&fieldSelector=metadata.name%3Dseen`;
    const path = `${configMaps}?watch=1&${query}`;
    const received = firstMessages(server.webSocket(path), 3);
    await writeLife('seen');
    const messages = await received;
    expect(messages.map(({ isBinary }) => isBinary)).toEqual([false, false, false]);
    const plain = await server.call('GET', `${path}&timeoutSeconds=1`);
    expect(messages.map(({ data }) => String(data)).join('')).toBe(plain.text);
  });

  it('sends protobuf in binary messages, without the length prefix of frames', async () => {
    await server.must('POST', configMaps, { metadata: { name: 'binary' } });
    const path = `${configMaps}?watch=1&fieldSelector=metadata.name%3Dbinary`;
    const headers = { authorization: 'Bearer secret', accept: `${protobuf};stream=watch` };
    const [message] = await firstMessages(server.webSocket(path, [], headers), 1);
    expect(message!.isBinary).toBe(true);
    expect([...message!.data.subarray(0, 2)]).toEqual([0x0a, 5]);
    expect(message!.data.toString('latin1', 2, 7)).toBe('ADDED');
  });

  it('starts with existing objects, ends at its timeout and ignores messages', async () => {
    await server.must('POST', configMaps, { metadata: { name: 'there' } });
    const path = `${configMaps}?watch=1&timeoutSeconds=1&fieldSelector=metadata.name%3Dthere`;
    const socket = server.webSocket(path);
    socket.once('open', () => socket.send('anything'));
    const { messages, code } = await messagesOf(socket);
    expect(messages.map(({ data }) => JSON.parse(String(data)).type)).toEqual(['ADDED']);
    expect(code).toBe(1000);
  });

  it('accepts the token of browsers, and selects the other protocol', async () => {
    const bearer = dialect().streamProtocol('base64url.bearer.authorization');
    const token = `${bearer}.${Buffer.from('secret').toString('base64url')}`;
    const path = `${configMaps}?watch=1&timeoutSeconds=1`;
    const socket = server.webSocket(path, [token, 'any.name'], {});
    await once(socket, 'open');
    expect(socket.protocol).toBe('any.name');
    socket.terminate();
  });

  it('is rejected like a plain watch', async () => {
    const path = `${configMaps}?watch=1`;
    expect(await refusal(server.webSocket(`${path}&resourceVersion=x`))).toMatchObject([
      400,
      { kind: 'Status' },
    ]);
    expect(await refusal(server.webSocket(path, [], {}))).toMatchObject([403, { kind: 'Status' }]);
  });

  it('is rejected without the headers of a WebSocket', async () => {
    const response = await raw(
      `GET ${configMaps}?watch=1 HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n`,
    );
    expect(response).toContain('HTTP/1.1 400');
    expect(response).toContain('Sec-WebSocket-Key');
  });
});

/** Sends a raw request and returns everything received until the connection closes. */
async function raw(head: string, body = ''): Promise<string> {
  const socket = connect({ host: '127.0.0.1', port: server.port, rejectUnauthorized: false });
  socket.write(`${head}Authorization: Bearer secret\r\n\r\n${body}`);
  let received = '';
  for await (const chunk of socket) received += chunk;
  return received;
}

describe('an upgrade request', () => {
  const upgrade = 'Host: a\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\n';
  const json = 'Content-Type: application/json\r\n';

  it.each([
    ['of a known length', (body: string) => [`Content-Length: ${body.length}\r\n`, body]],
    [
      'in chunks',
      (body: string) => [
        'Transfer-Encoding: chunked\r\n',
        `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`,
      ],
    ],
  ])('is served as a plain request if it has a body %s', async (what, framed) => {
    const name = `upgraded-${what.replaceAll(' ', '-')}`;
    const [length, body] = framed(JSON.stringify({ metadata: { name } }));
    const response = await raw(`POST ${configMaps} HTTP/1.1\r\n${upgrade}${json}${length}`, body);
    expect(response).toContain('HTTP/1.1 201');
    expect((await server.call('GET', `${configMaps}/${name}`)).code).toBe(200);
  });

  it('is served as a plain request if the path supports no upgrade', async () => {
    const response = await raw(`GET /version HTTP/1.1\r\n${upgrade}Content-Length: 0\r\n`);
    expect(response).toContain('HTTP/1.1 200');
  });
});

describe('the log of a pod', () => {
  const pods = '/api/v1/namespaces/default/pods';
  let directory: string;
  let agent: Server;
  let requestUrls: string[];
  let respond: (request: IncomingMessage, response: ServerResponse) => void;

  beforeAll(async () => {
    directory = mkdtempSync(join(tmpdir(), 'orch-agent-'));
    const pair = await ensureSelfSigned(
      directory,
      'agent',
      { commonName: 'agent', hosts: ['127.0.0.1'], usages: ['server'], validMs: 3_600_000 },
      systemClock,
    );
    agent = createServer({ cert: pair.certificatePem, key: pair.keyPem }, (request, response) => {
      requestUrls.push(request.url ?? '');
      respond(request, response);
    });
    agent.listen(0, '127.0.0.1');
    await once(agent, 'listening');
    await server.must('POST', '/api/v1/nodes', { metadata: { name: 'node' } });
    await server.must('PUT', '/api/v1/nodes/node/status', {
      metadata: { name: 'node' },
      status: {
        addresses: [{ type: 'InternalIP', address: '127.0.0.1' }],
        daemonEndpoints: { kubeletEndpoint: { Port: (agent.address() as AddressInfo).port } },
      },
    });
    await server.must('POST', '/api/v1/namespaces/default/serviceaccounts', {
      metadata: { name: 'default' },
    });
    await makePod('one', ['main'], 'node');
    await makePod('two', ['main', 'side'], 'node');
    await makePod('unplaced', ['main'], undefined);
  });

  afterAll(() => {
    agent.closeAllConnections();
    agent.close();
    rmSync(directory, { recursive: true, force: true });
  });

  async function makePod(name: string, names: string[], nodeName?: string): Promise<void> {
    const containers = names.map((container) => ({ name: container, image: 'i' }));
    const initContainers = names.length > 1 ? [{ name: 'first', image: 'i' }] : [];
    await server.must('POST', pods, {
      metadata: { name },
      spec: { nodeName, containers, initContainers, automountServiceAccountToken: false },
    });
  }

  function serve(text: string, code = 200): void {
    requestUrls = [];
    respond = (_request, response) => response.writeHead(code).end(text);
  }

  it('is requested from the agent with every option', async () => {
    serve('line\n');
    const query =
      'follow&previous=true&timestamps=0&tailLines=2&limitBytes=9&sinceTime=2026-01-01T00:00:00Z' +
      '&insecureSkipTLSVerifyBackend=true&container=side&other=1';
    const { code, text, headers } = await server.call('GET', `${pods}/two/log?${query}`);
    expect({ code, text }).toEqual({ code: 200, text: 'line\n' });
    expect(headers['content-type']).toBe('text/plain');
    const [path, parameters] = requestUrls[0]!.split('?');
    expect(path).toBe('/containerLogs/default/two/side');
    expect(Object.fromEntries(new URLSearchParams(parameters))).toEqual({
      follow: 'true',
      previous: 'true',
      tailLines: '2',
      limitBytes: '9',
      sinceTime: '2026-01-01T00:00:00Z',
    });
  });

  it.each([
    ['one', 'tailLines=-1', 422, 'tailLines: Invalid value: -1: must be greater than or equal to'],
    ['one', 'limitBytes=0', 422, 'limitBytes: Invalid value: 0: must be greater than 0'],
    ['one', 'sinceSeconds=0', 422, 'sinceSeconds: Invalid value: 0: must be greater than 0'],
    [
      'one',
      'sinceSeconds=1&sinceTime=2026-01-01T00:00:00Z',
      422,
      'Forbidden: at most one of `sinceTime` or `sinceSeconds` may be specified',
    ],
    ['one', 'tailLines=x', 400, 'strconv.ParseInt: parsing "x": invalid syntax'],
    ['one', 'sinceTime=x', 400, 'parsing time "x"'],
    ['one', 'container=none', 400, 'container none is not valid for pod one'],
    [
      'two',
      '',
      400,
      'a container name must be specified for pod two, choose one of: [main side] or one of the init containers: [first]',
    ],
    ['none', '', 404, 'pods "none" not found'],
  ])('of %s with %s is rejected: %i', async (name, query, code, message) => {
    const { code: got, body } = await server.call('GET', `${pods}/${name}/log?${query}`);
    expect(got).toBe(code);
    expect(body.message).toContain(message);
  });

  it('needs no upgrade, but exec does, and an upgrade with a body is ignored', async () => {
    const { code, body } = await server.call('POST', `${pods}/one/exec?command=true&stdout=1`, {
      body: {},
      headers: { connection: 'Upgrade', upgrade: 'websocket' },
    });
    expect({ code, message: body.message }).toEqual({
      code: 400,
      message: 'Upgrade request required',
    });
  });

  it('of an unscheduled pod is empty', async () => {
    expect((await server.call('GET', `${pods}/unplaced/log`)).code).toBe(204);
  });

  it.each([
    [400, 'BadRequest', 'container "main" in pod "one" is waiting to start: ContainerCreating'],
    [404, 'NotFound', 'the server could not find the requested resource ( pods/log one)'],
    [500, 'InternalError', 'Internal error occurred: container'],
    [503, 'InternalError', 'an error on the server ("container'],
  ])('that the agent rejects with %i is rejected with a Status', async (code, reason, message) => {
    serve('container "main" in pod "one" is waiting to start: ContainerCreating', code);
    const { code: got, body } = await server.call('GET', `${pods}/one/log`);
    expect(got).toBe(code);
    expect(body).toMatchObject({ kind: 'Status', reason });
    expect(body.message).toContain(message);
  });

  it.each([
    ['', true],
    ['binary', true],
    ['base64.binary', false],
  ])('is sent over WebSocket in the protocol "%s"', async (name, isBinary) => {
    serve('first\nsecond\n');
    const protocols = name === '' ? [] : [dialect().streamProtocol(name)];
    const socket = server.webSocket(`${pods}/one/log?follow=1`, protocols);
    const { messages, code } = await messagesOf(socket);
    expect(socket.protocol).toBe(protocols[0] ?? '');
    expect(messages[0]).toEqual({ data: Buffer.alloc(0), isBinary });
    const bytes = messages.map(({ data }) => (isBinary ? data : Buffer.from(`${data}`, 'base64')));
    expect(String(Buffer.concat(bytes))).toBe('first\nsecond\n');
    expect(code).toBe(1000);
  });

  it('over WebSocket is rejected like a plain log, and in an unknown protocol', async () => {
    serve('no', 400);
    const path = `${pods}/one/log`;
    expect(await refusal(server.webSocket(path))).toMatchObject([400, { message: 'no' }]);
    serve('line');
    expect(await refusal(server.webSocket(path, ['other']))).toMatchObject([
      403,
      { message: expect.stringContaining('other') },
    ]);
  });

  it('over WebSocket is closed at the agent when the client leaves, and fails when the agent does', async () => {
    requestUrls = [];
    const left = new Promise<void>((done) => {
      respond = (_request, response) => {
        response.write('some');
        response.once('close', () => done());
      };
    });
    await firstMessages(server.webSocket(`${pods}/one/log?follow=1`), 2);
    await left;
    respond = (_request, response) => {
      response.write('some', () => response.destroy());
    };
    const { code } = await messagesOf(server.webSocket(`${pods}/one/log?follow=1`));
    expect(code).toBe(1011);
  });

  it('over WebSocket waits for a slow client', async () => {
    requestUrls = [];
    const chunk = Buffer.alloc(64 * 1024, 'x');
    const total = 512;
    let sent = 0;
    respond = async (_request, response) => {
      for (; sent < total; sent += 1) {
        if (!response.write(chunk)) await once(response, 'drain');
      }
      response.end();
    };
    const socket = server.webSocket(`${pods}/one/log`);
    await once(socket, 'open');
    socket.pause();
    const settled = async () => {
      for (let before = -1; before !== sent; ) {
        before = sent;
        await new Promise((done) => setTimeout(done, 200));
      }
    };
    await settled();
    expect(sent).toBeLessThan(total);
    socket.resume();
    const { messages } = await messagesOf(socket);
    const bytes = messages.reduce((sum, { data }) => sum + data.length, 0);
    expect(bytes).toBe(total * chunk.length);
  });
});

describe('the shutdown of the server', () => {
  it('closes watches over WebSocket with a code after which clients reconnect', async () => {
    const other = await RunningServer.start();
    const socket = other.webSocket(`${configMaps}?watch=1&resourceVersion=1`);
    await once(socket, 'open');
    const ended = messagesOf(socket);
    await other.stop();
    expect((await ended).code).toBe(1001);
  });
});
