/**
 * Hostile and broken clients: each gets a Status that says what is wrong, or has its connection ended;
 * the server stays ready for everybody else meanwhile and holds no memory for them afterwards.
 */
import { readFileSync } from 'node:fs';
import { Agent, request } from 'node:https';
import { connect as connectTcp, type Socket } from 'node:net';
import { join } from 'node:path';
import { connect as connectTls } from 'node:tls';
import type { TokenRequest } from '@orch/types/authentication/v1';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { Api } from './support/api.js';
import { Cluster } from './support/cluster.js';
import { apiServerProcess } from './support/kill.js';
import { residentBytes } from './support/pods.js';
import { eventually } from './support/wait.js';

interface Heard {
  readonly status: number;
  readonly headers: Record<string, string | string[] | undefined>;
  readonly text: string;
}

const path = '/api/v1/namespaces/default/configmaps';
const readsMax = 40;
const writesMax = 20;
/** Of these sixty seats the level of the hostile user gets a third: all others together have 205 shares. */
const seatsMax = 20;
const shares = 102;

describe('the API server under hostile clients', () => {
  const cluster = new Cluster({
    dialect: 'orch',
    replicas: 1,
    components: 'apiserver',
    extraArgs: [
      ['--component-arg', `apiserver=--max-requests-inflight=${readsMax}`],
      ['--component-arg', `apiserver=--max-mutating-requests-inflight=${writesMax}`],
    ].flat(),
  });
  let api: Api;
  let agent: Agent;
  let ca: Buffer;
  let pid: number;
  let hostile = '';

  beforeAll(async () => {
    await cluster.up();
    api = new Api(cluster);
    ca = readFileSync(join(cluster.dataDirectory, 'ca.crt'));
    agent = new Agent({ ca, keepAlive: true });
    pid = apiServerProcess(cluster);
    const made = await api.call('POST', path, { metadata: { name: 'a' }, data: { x: '1' } });
    expect(made.status).toBe(201);
    await limitHostile();
  });

  /** A user who does not wait for seats, and has few. */
  async function limitHostile(): Promise<void> {
    const accounts = '/api/v1/namespaces/default/serviceaccounts';
    await api.call('POST', accounts, { metadata: { name: 'hostile' } });
    const { body } = await api.call<TokenRequest>('POST', `${accounts}/hostile/token`, {
      spec: {},
    });
    hostile = body.status?.token ?? '';
    const group = '/apis/flowcontrol.apiserver.orch.io/v1beta1';
    const limited = { assuredConcurrencyShares: shares, limitResponse: { type: 'Reject' } };
    await api.call('POST', `${group}/prioritylevelconfigurations`, {
      metadata: { name: 'hostile' },
      spec: { type: 'Limited', limited },
    });
    const all = ['*'];
    const serviceAccount = { namespace: 'default', name: 'hostile' };
    const resourceRules = [{ verbs: all, apiGroups: all, resources: all, namespaces: all }];
    await api.call('POST', `${group}/flowschemas`, {
      metadata: { name: 'hostile' },
      spec: {
        priorityLevelConfiguration: { name: 'hostile' },
        matchingPrecedence: 50,
        rules: [{ subjects: [{ kind: 'ServiceAccount', serviceAccount }], resourceRules }],
      },
    });
    await eventually('the level to be in force', async () => {
      const dump = '/debug/api_priority_and_fairness/dump_priority_levels';
      return (await api.text('GET', dump)).body.includes('\nhostile,');
    });
  }

  afterEach(async () => {
    const startMs = performance.now();
    expect(await api.text('GET', '/readyz')).toEqual({ status: 200, body: 'ok' });
    expect(performance.now() - startMs).toBeLessThan(2_000);
    expect(apiServerProcess(cluster)).toBe(pid);
  });

  afterAll(async () => {
    agent?.destroy();
    await api?.close();
    await cluster.destroy();
  });

  interface Sent {
    readonly body?: string | Buffer;
    readonly type?: string;
    readonly headers?: Record<string, string>;
  }

  function send(method: string, target: string, sent: Sent = {}): Promise<Heard> {
    const { body, type = 'application/json', headers = {} } = sent;
    const own = {
      authorization: `Bearer ${cluster.token}`,
      ...(body !== undefined && {
        'content-type': type,
        'content-length': String(Buffer.byteLength(body)),
      }),
    };
    return new Promise((done, fail) => {
      const options = { method, agent, headers: { ...own, ...headers }, timeout: 15_000 };
      const sending = request(`${cluster.url}${target}`, options, (answer) => {
        let text = '';
        answer.setEncoding('utf8').on('data', (chunk) => {
          text += chunk;
        });
        answer.on('end', () =>
          done({ status: answer.statusCode ?? 0, headers: answer.headers, text }),
        );
        answer.on('error', fail);
      });
      sending.on('timeout', () => sending.destroy(new Error(`no answer to ${method} ${target}`)));
      sending.on('error', fail);
      sending.end(body);
    });
  }

  /** A refusal in words, never an internal error. */
  function expectRefused({ status, text }: Heard, code?: number): void {
    expect(status).toBeGreaterThanOrEqual(400);
    expect(status).toBeLessThan(500);
    if (code !== undefined) expect([status, text]).toEqual([code, text]);
    const said = JSON.parse(text);
    expect(said).toMatchObject({ kind: 'Status', status: 'Failure', code: status });
    expect(said.message.length).toBeGreaterThan(10);
    expect(said.message).not.toMatch(/call stack|undefined|\[object/);
  }

  const nested = (depth: number) => `${'{"a":['.repeat(depth)}1${']}'.repeat(depth)}`;
  const field = (value: string) =>
    `{"metadata":{"name":"m","managedFields":[{"manager":"x","operation":"Update","apiVersion":"v1","fieldsType":"FieldsV1","fieldsV1":${value}}]}}`;
  const manyKeys = (count: number, key: string, value: string) =>
    JSON.stringify(Object.fromEntries(Array.from({ length: count }, (_, i) => [key + i, value])));
  const patch = (kind: string) => `application/${kind}-patch+json`;
  const yaml = 'application/yaml';
  const protobuf = 'application/vnd.orch.protobuf';

  it.each<[string, string, string, string | Buffer | undefined, string | undefined, number]>([
    ['nested JSON', 'POST', path, field(nested(50_000)), undefined, 400],
    ['nested lists', 'POST', path, `${'['.repeat(500_000)}`, undefined, 400],
    ['a nested merge patch', 'PATCH', `${path}/a`, nested(50_000), patch('merge'), 400],
    [
      'a nested strategic patch',
      'PATCH',
      `${path}/a`,
      nested(50_000),
      patch('strategic-merge'),
      400,
    ],
    [
      'a nested JSON patch',
      'PATCH',
      `${path}/a`,
      `[{"op":"add","path":"/x","value":${nested(50_000)}}]`,
      patch('json'),
      400,
    ],
    [
      'copies of copies',
      'PATCH',
      `${path}/a`,
      JSON.stringify([
        { op: 'add', path: '/x', value: { text: 'y'.repeat(1_000) } },
        ...Array.from({ length: 60 }, (_, i) => ({ op: 'copy', from: '/x', path: `/x/${i}` })),
      ]),
      patch('json'),
      422,
    ],
    [
      'too many operations',
      'PATCH',
      `${path}/a`,
      JSON.stringify(
        Array.from({ length: 10_001 }, () => ({ op: 'test', path: '/x', value: null })),
      ),
      patch('json'),
      413,
    ],
    ['an unknown operation', 'PATCH', `${path}/a`, '[{"op":"frob"}]', patch('json'), 422],
    [
      'a directive of a wrong type',
      'PATCH',
      `${path}/a`,
      '{"metadata":{"$retainKeys":"x"}}',
      patch('strategic-merge'),
      400,
    ],
    ['an unknown kind of patch', 'PATCH', `${path}/a`, '{}', 'application/frob-patch+json', 415],
    ['nested YAML', 'POST', path, '['.repeat(100_000), yaml, 400],
    ['long YAML', 'POST', path, '- a\n'.repeat(700_000), yaml, 413],
    ['binary YAML', 'POST', path, Buffer.from([0xff, 0xfe, 0, 1]), yaml, 400],
    ['YAML whose aliases multiply', 'POST', path, aliasBomb(), yaml, 400],
    [
      'very many bad labels',
      'POST',
      path,
      `{"metadata":{"name":"m","labels":${manyKeys(100_000, 'k ', '!')}}}`,
      undefined,
      400,
    ],
    [
      'many bad keys',
      'POST',
      path,
      `{"metadata":{"name":"m"},"data":${manyKeys(20_000, 'k ', '')}}`,
      undefined,
      422,
    ],
    ['a name that is no UTF-8', 'POST', path, notUtf8Name(), undefined, 422],
    ['no protobuf', 'POST', path, Buffer.from([1, 2, 3, 4]), protobuf, 400],
    ['an empty protobuf', 'POST', path, Buffer.alloc(0), protobuf, 400],
    [
      'a protobuf that ends early',
      'POST',
      path,
      Buffer.from('6b387300fffffff0', 'hex'),
      protobuf,
      400,
    ],
    ['too long a body', 'POST', path, Buffer.alloc(4 << 20, 0x20), undefined, 413],
    ['a bad continue token', 'GET', `${path}?continue=frob`, undefined, undefined, 400],
    [
      'a forged continue token',
      'GET',
      `${path}?continue=${Buffer.from('{"v":"meta.v1","rv":1e300,"start":"a"}').toString('base64url')}`,
      undefined,
      undefined,
      400,
    ],
    ['a bad limit', 'GET', `${path}?limit=1.5`, undefined, undefined, 400],
    ['a bad version', 'GET', `${path}?resourceVersion=-1`, undefined, undefined, 400],
    [
      'a bad selector',
      'GET',
      `${path}?labelSelector=${'('.repeat(30_000)}`,
      undefined,
      undefined,
      400,
    ],
    [
      'too long a selector',
      'GET',
      `${path}?labelSelector=${'a,'.repeat(40_000)}`,
      undefined,
      undefined,
      400,
    ],
    [
      'too long a request line',
      'GET',
      `${path}?x=${'a'.repeat(200_000)}`,
      undefined,
      undefined,
      431,
    ],
    [
      'a path that is no UTF-8',
      'GET',
      '/api/v1/namespaces/%ff/configmaps',
      undefined,
      undefined,
      400,
    ],
    ['half an escape', 'GET', '/openapi/%', undefined, undefined, 400],
    ['an unknown method', 'PROPFIND', path, undefined, undefined, 405],
  ])('refuses %s', async (_what, method, target, body, type, code) => {
    const sent = { ...(body !== undefined && { body }), ...(type !== undefined && { type }) };
    expectRefused(await send(method, target, sent), code);
  });

  it('takes long selectors and large objects that are within the limits', async () => {
    const values = Array.from({ length: 8_000 }, (_, i) => `v${i}`).join(',');
    const selector = encodeURIComponent(`x in (${values})`);
    expect((await send('GET', `${path}?labelSelector=${selector}`)).status).toBe(200);
    const body = `{"metadata":{"name":"many"},"data":${manyKeys(50_000, 'k', '')}}`;
    expect((await send('POST', path, { body })).status).toBe(201);
    expect((await send('DELETE', `${path}/many`)).status).toBe(200);
  });

  function talk(bytes: string | Buffer, tls = true): Promise<string> {
    const port = Number(new URL(cluster.url).port);
    return new Promise((done) => {
      const socket: Socket = tls
        ? connectTls({ host: '127.0.0.1', port, ca, ALPNProtocols: ['http/1.1'] })
        : connectTcp(port, '127.0.0.1');
      let heard = '';
      socket.setEncoding('latin1').on('data', (chunk) => {
        heard += chunk;
      });
      socket.setTimeout(10_000, () => socket.destroy());
      socket.on('error', () => socket.destroy());
      socket.on('close', () => done(heard));
      socket.write(bytes);
    });
  }

  it.each([
    'GARBAGE\r\n\r\n',
    'GET / HTTP/9.9\r\nHost: x\r\n\r\n',
    'GET / HTTP/1.1\r\nHost: x\r\nContent-Length: frob\r\n\r\n',
    'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
    'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
    `GET / HTTP/1.1\r\nHost: x\r\n${'X-A: b\r\n'.repeat(50_000)}\r\n`,
  ])('answers what is no HTTP with a Status and ends the connection', async (text) => {
    const [head = '', body = ''] = (await talk(text)).split('\r\n\r\n');
    const status = Number(head.split(' ')[1]);
    expectRefused({ status, headers: {}, text: body });
    expect(head).toContain('Connection: close');
  });

  it('ends connections that are no TLS', async () => {
    expect(await talk('GET / HTTP/1.1\r\nHost: x\r\n\r\n', false)).not.toContain('HTTP/1.1 2');
    await talk(Buffer.alloc(5_000, 0x16), false);
  });

  it('serves others beside half-open connections and a thousand idle watches', async () => {
    const port = Number(new URL(cluster.url).port);
    const halfOpen = Array.from({ length: 200 }, () =>
      connectTcp(port, '127.0.0.1').on('error', () => undefined),
    );
    const before = residentBytes(pid);
    const watches: { destroy(): void }[] = [];
    const own = new Agent({ ca, keepAlive: false });
    for (let round = 0; round < 20; round += 1) {
      await Promise.all(
        Array.from({ length: 50 }, () => openIdleWatch(own).then((watch) => watches.push(watch))),
      );
    }
    expect(watches).toHaveLength(1_000);
    // Watches take no place of requests: many more of them than requests are let in.
    expect((await send('GET', path)).status).toBe(200);
    expect((await send('POST', path, { body: '{"metadata":{"name":"b"}}' })).status).toBe(201);
    expect(residentBytes(pid) - before).toBeLessThan(300 << 20);
    expect(await watchCount()).toBeGreaterThanOrEqual(1_000);
    for (const watch of watches) watch.destroy();
    for (const socket of halfOpen) socket.destroy();
    own.destroy();
    await eventually('the watches to be let go of', async () => (await watchCount()) === 0);
  });

  function openIdleWatch(own: Agent): Promise<{ destroy(): void }> {
    return new Promise((done, fail) => {
      const headers = { authorization: `Bearer ${cluster.token}` };
      const target = `${cluster.url}/api/v1/secrets?watch=true`;
      const sending = request(target, { agent: own, headers }, (answer) => {
        answer.on('error', () => undefined);
        if (answer.statusCode === 200) done(sending);
        else fail(new Error(`a watch was answered with ${answer.statusCode}`));
      });
      sending.on('error', fail);
      sending.end();
    });
  }

  async function watchCount(): Promise<number> {
    const { body } = await api.text('GET', '/metrics');
    const lines = body
      .split('\n')
      .filter((line) => line.startsWith('apiserver_registered_watchers{'));
    return lines.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);
  }

  it('refuses a user beyond the seats, with a time to come again, while bodies trickle in', async () => {
    const own = new Agent({ ca, keepAlive: false });
    const answers: number[] = [];
    const retryAfter: unknown[] = [];
    const slow = Array.from({ length: 200 }, () => {
      const headers = {
        authorization: `Bearer ${hostile}`,
        'content-type': 'application/json',
        'content-length': '1000',
      };
      const options = { method: 'POST', agent: own, headers };
      const sending = request(`${cluster.url}${path}`, options, (answer) => {
        answers.push(answer.statusCode ?? 0);
        retryAfter.push(answer.headers['retry-after']);
        answer.resume();
      });
      sending.on('error', () => undefined);
      sending.write('{"metadata":');
      return sending;
    });
    await eventually('refusals', () => answers.length === 200 - seatsMax);
    expect(new Set(answers)).toEqual(new Set([429]));
    for (const seconds of retryAfter) expect(Number(seconds)).toBeGreaterThan(0);
    const headers = { authorization: `Bearer ${hostile}` };
    const late = await send('GET', path, { headers });
    expect([late.status, late.text]).toEqual([429, 'Too many requests, please try again later.\n']);
    expect(Number(late.headers['retry-after'])).toBeGreaterThan(0);
    // Others have seats of their own.
    expect((await send('GET', path)).status).toBe(200);
    for (const sending of slow) sending.destroy();
    own.destroy();
    await eventually('the places to be free again', async () => {
      const body = JSON.stringify({ metadata: { generateName: 'again-' } });
      return (await send('POST', path, { body, headers })).status === 201;
    });
  });

  it('answers a flood of requests or refuses them, and its memory comes back', async () => {
    const own = new Agent({ ca, keepAlive: true, maxSockets: 200 });
    const value = 'x'.repeat(500_000);
    for (let i = 0; i < 10; i += 1) {
      const body = JSON.stringify({ metadata: { name: `flood-${i}` }, data: { value } });
      expect((await send('POST', path, { body })).status).toBe(201);
    }
    const before = residentBytes(pid);
    const codes = new Map<number, number>();
    await Promise.all(
      Array.from({ length: 400 }, async () => {
        const status = await statusOf(own, path);
        codes.set(status, (codes.get(status) ?? 0) + 1);
      }),
    );
    own.destroy();
    expect([...codes.keys()].filter((code) => code !== 200 && code !== 429)).toEqual([]);
    expect(codes.get(200)).toBeGreaterThanOrEqual(seatsMax);
    await eventually('memory to come back', () => residentBytes(pid) - before < 150 << 20, 20_000);
  });

  function statusOf(own: Agent, target: string): Promise<number> {
    return new Promise((done, fail) => {
      const headers = { authorization: `Bearer ${hostile}` };
      const sending = request(`${cluster.url}${target}`, { agent: own, headers }, (answer) => {
        answer.resume().on('end', () => done(answer.statusCode ?? 0));
        answer.on('error', fail);
      });
      sending.on('error', fail);
      sending.end();
    });
  }
});

function notUtf8Name(): Buffer {
  const [head, tail] = ['{"metadata":{"name":"u', '"}}'].map((text) => Buffer.from(text));
  return Buffer.concat([head!, Buffer.from([0xff, 0xc3]), tail!]);
}

/** Each line refers seven times to the one before. */
function aliasBomb(): string {
  const seven = (item: string) => Array.from({ length: 7 }, () => item).join();
  const lines = Array.from({ length: 9 }, (_, i) => `k${i + 1}: &k${i + 1} [${seven(`*k${i}`)}]`);
  return [`k0: &k0 [${seven('x')}]`, ...lines].join('\n');
}
