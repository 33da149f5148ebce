import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import {
  createSecureServer,
  type Http2SecureServer,
  type Http2ServerRequest,
  type Http2ServerResponse,
  type ServerHttp2Session,
} from 'node:http2';
import { createServer as createHttpsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ensureSelfSigned, type KeyPairPem, systemClock } from '@orch/component';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { eventually } from '../../test/support.js';
import { limits } from '../limits.js';
import { Http2Requests } from './http2-requests.js';
import { RestClient } from './rest-client.js';

const path = '/api/v1/pods';
const cancelCode = 8;
const refusedCode = 7;

let directory: string;
let pair: KeyPairPem;
beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'orch-http2-'));
  const certificate = { commonName: 'server', hosts: ['127.0.0.1'], validMs: 3_600_000 };
  pair = await ensureSelfSigned(
    directory,
    'server',
    { ...certificate, usages: ['server'] },
    systemClock,
  );
});
afterAll(() => rmSync(directory, { recursive: true }));

describe('a client of a server with HTTP/2', () => {
  let server: Http2SecureServer;
  let sessions: ServerHttp2Session[];
  let requests: Http2ServerRequest[];
  /** Not sent until a test does. */
  let responses: Http2ServerResponse[];
  let client: RestClient;
  /** Responds in place of the test, if set. */
  let respond: ((response: Http2ServerResponse) => void) | undefined;

  beforeEach(async () => {
    [sessions, requests, responses, respond] = [[], [], [], undefined];
    const options = { cert: pair.certificatePem, key: pair.keyPem };
    server = createSecureServer(options, (request, response) => {
      requests.push(request);
      responses.push(response);
      respond?.(response);
    });
    server.on('session', (session) => sessions.push(session));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const servers = [`https://127.0.0.1:${port}`];
    client = new RestClient({ servers, ca: pair.certificatePem, qps: 0 });
  });

  afterEach(async () => {
    await client.close();
    for (const session of sessions) session.destroy();
    await new Promise((done) => server.close(done));
  });

  const outcomes = (pending: Promise<unknown>[]) => Promise.allSettled(pending);
  const get = (count: number) =>
    Array.from({ length: count }, () => client.request('GET', path, { sendOnce: true }));
  const arrived = (count: number) =>
    eventually(`${count} requests arrive`, () => requests.length === count);

  it('sends the bodies and headers of concurrent requests over one connection', async () => {
    const bodies = new Map<string, string>();
    respond = (response) => {
      let text = '';
      response.req.on('data', (chunk: Buffer) => {
        text += chunk.toString();
      });
      response.req.on('end', () => {
        bodies.set(String(response.req.headers['x-id']), text);
        response.writeHead(201, { 'x-seen': 'yes' }).end(`{"echo":${text}}`);
      });
    };
    const all = await Promise.all(
      ['"a"', '"ä"'].map((body, id) =>
        client.request('POST', `${path}?x=1`, { body, headers: { 'X-Id': String(id) } }),
      ),
    );
    expect(all.map((one) => one.json())).toEqual([{ echo: 'a' }, { echo: 'ä' }]);
    expect(all[0]?.headers['x-seen']).toBe('yes');
    expect([...bodies]).toEqual(expect.arrayContaining([['1', '"ä"']]));
    const { method, url, headers } = requests[1]!;
    expect([method, url, headers['content-length']]).toEqual(['POST', `${path}?x=1`, '4']);
    expect(headers.accept).toBe('application/json');
    expect(sessions).toHaveLength(1);
  });

  it('has no more requests in progress than the limit, and sends the others in order', async () => {
    const pending = get(limits.requestConcurrencyMax + 1);
    await arrived(limits.requestConcurrencyMax);
    responses[3]!.end('{}');
    await arrived(limits.requestConcurrencyMax + 1);
    for (const response of responses) response.end('{}');
    expect((await outcomes(pending)).every(({ status }) => status === 'fulfilled')).toBe(true);
  });

  it('receives a response that is larger than the window', async () => {
    const text = 'x'.repeat(20 * 1024 * 1024);
    respond = (response) => response.end(text);
    const [response] = await Promise.all(get(1));
    expect(response?.body.length).toBe(text.length);
  });

  it('finishes requests when the server shuts down, and connects again for the next', async () => {
    const [first] = get(1);
    await arrived(1);
    sessions[0]!.close();
    // The client has received the announcement when the response that follows it has arrived.
    responses[0]!.end('{"value":1}');
    expect((await first)?.json()).toEqual({ value: 1 });
    respond = (response) => response.end('{"value":2}');
    expect((await client.request('GET', path)).json()).toEqual({ value: 2 });
    expect(sessions).toHaveLength(2);
  });

  it('repeats a write that the server refused before it began', async () => {
    respond = (response) => {
      if (requests.length === 1) response.stream.close(refusedCode);
      else response.end('{"value":1}');
    };
    const created = await client.request('POST', path, { body: {} });
    expect(created.json()).toEqual({ value: 1 });
    expect(requests).toHaveLength(2);
  });

  it('reports that the outcome of writes is unknown when the connection is lost', async () => {
    const pending = [1, 2].map(() => client.request('POST', path, { body: {} }));
    const settled = outcomes(pending);
    await arrived(2);
    responses[0]!.writeHead(201, { 'content-length': 10 }).write('{"a":');
    respond = (response) => response.end('{}');
    sessions[0]!.socket.destroy();
    const lost = {
      reason: expect.objectContaining({ code: 'connection_lost', requestSent: true }),
    };
    expect(await settled).toEqual([expect.objectContaining(lost), expect.objectContaining(lost)]);
    expect(requests).toHaveLength(2);
    await client.request('GET', path);
    expect(sessions).toHaveLength(2);
  });

  it('rejects a response that the server ends early, although its beginning arrived', async () => {
    const [pending] = get(1);
    const settled = outcomes([pending!]);
    await arrived(1);
    responses[0]!.writeHead(200).write('{"a":1}');
    responses[0]!.stream.close(cancelCode);
    const reason = expect.objectContaining({ code: 'connection_lost', requestSent: true });
    expect(await settled).toEqual([{ status: 'rejected', reason }]);
  });

  it('cancels only the request that is aborted', async () => {
    const abort = new AbortController();
    const aborted = client.request('GET', path, { signal: abort.signal });
    const settled = outcomes([aborted]);
    await arrived(1);
    const [other] = get(1);
    await arrived(2);
    abort.abort(new Error('no longer needed'));
    expect(await settled).toEqual([{ status: 'rejected', reason: abort.signal.reason }]);
    await once(responses[0]!, 'close');
    expect(responses[0]!.stream.rstCode).toBe(cancelCode);
    responses[1]!.end('{"value":1}');
    expect((await other)?.json()).toEqual({ value: 1 });
  });

  it('does not send a request that is aborted before the connection is open', async () => {
    const abort = new AbortController();
    const settled = outcomes([client.request('POST', path, { body: {}, signal: abort.signal })]);
    await Promise.resolve();
    abort.abort(new Error('no longer needed'));
    expect(await settled).toEqual([{ status: 'rejected', reason: abort.signal.reason }]);
    respond = (response) => response.end('{}');
    await client.request('GET', path);
    expect(requests.map(({ method }) => method)).toEqual(['GET']);
  });

  it('finishes requests on their connection when it presents other certificates', async () => {
    const [first] = get(1);
    await arrived(1);
    client.useTls({ ca: pair.certificatePem });
    const [second] = get(1);
    await arrived(2);
    expect(sessions).toHaveLength(2);
    for (const response of responses) response.end('{}');
    await Promise.all([first, second]);
    await eventually('the first connection is closed', () => sessions[0]!.destroyed);
    expect(sessions[1]!.destroyed).toBe(false);
  });

  it('fails open and waiting requests when it is closed', async () => {
    const settled = outcomes(get(limits.requestConcurrencyMax + 1));
    await arrived(limits.requestConcurrencyMax);
    await client.close();
    const errors = (await settled).map((one) => (one as PromiseRejectedResult).reason);
    const reasons = errors.map(({ message }) => message);
    expect(errors.map(({ requestSent }) => requestSent).lastIndexOf(true)).toBe(
      limits.requestConcurrencyMax - 1,
    );
    expect(errors.at(-1).requestSent).toBe(false);
    expect(new Set(reasons)).toEqual(new Set(['the client is closed']));
    expect(requests).toHaveLength(limits.requestConcurrencyMax);
  });
});

describe('a client of a server without HTTP/2', () => {
  it('sends concurrent requests over a connection for each', async () => {
    const options = { cert: pair.certificatePem, key: pair.keyPem };
    const responses: ServerResponse[] = [];
    const server = createHttpsServer(options, (_request, response) => {
      responses.push(response);
      if (responses.length === 2) for (const each of responses) each.end('{}');
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const servers = [`https://127.0.0.1:${port}`];
    const client = new RestClient({ servers, ca: pair.certificatePem });
    await Promise.all([1, 2].map(() => client.request('POST', path, { body: {} })));
    expect(new Set(responses.map(({ req }) => req.socket)).size).toBe(2);
    await client.close();
    await new Promise((done) => server.close(done));
  });

  it('is left when the pool has taken its requests', async () => {
    const pool = { dispatched: 0, closed: false };
    const requests = new Http2Requests({
      url: new URL('https://127.0.0.1'),
      connect: async () => ({ alpnProtocol: 'http/1.1', destroy() {} }) as never,
      openPool: () => ({
        dispatch: () => ++pool.dispatched > 0,
        close: async () => {
          pool.closed = true;
        },
        destroy: async () => {},
      }),
    });
    requests.dispatch({ method: 'GET', path }, {});
    await requests.close();
    expect(pool).toEqual({ dispatched: 1, closed: true });
  });
});
