/**
 * Hostile and broken clients: each receives a Status with the reason, or its connection is closed;
 * meanwhile the server stays ready for other clients, and afterwards it holds no memory for these.
 */
import { readFileSync } from 'node:fs';
import { Agent, request } from 'node:https';
import { connect } from 'node:net';
import { join } from 'node:path';
import type { TokenRequest } from '@orch/types/authentication/v1';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { Api } from './support/api.js';
import { Cluster } from './support/cluster.js';
import { expectRefused, HostileClient } from './support/hostile-client.js';
import { hostileRequests, manyKeys, configMapsPath as path } from './support/hostile-requests.js';
import { apiServerProcess } from './support/kill.js';
import { residentBytes } from './support/pods.js';
import { eventually } from './support/wait.js';

const readsMax = 40;
const writesMax = 20;
/** A third of these sixty seats, because all other levels together have 205 shares. */
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
  let client: HostileClient;
  let ca: Buffer;
  let pid: number;
  let hostile = '';

  beforeAll(async () => {
    await cluster.up();
    api = new Api(cluster);
    ca = readFileSync(join(cluster.dataDirectory, 'ca.crt'));
    client = new HostileClient(cluster, ca);
    pid = apiServerProcess(cluster);
    const created = await api.call('POST', path, { metadata: { name: 'a' }, data: { x: '1' } });
    expect(created.status).toBe(201);
    await bindHostile();
    await limitHostile();
  });

  /** Lets the hostile user read and write config maps of its namespace. */
  async function bindHostile(): Promise<void> {
    const group = '/apis/rbac.authorization.orch.io/v1/namespaces/default';
    const rule = { verbs: ['*'], apiGroups: [''], resources: ['configmaps'] };
    const apiGroup = 'rbac.authorization.orch.io';
    const bound = [
      await api.call('POST', `${group}/roles`, { metadata: { name: 'hostile' }, rules: [rule] }),
      await api.call('POST', `${group}/rolebindings`, {
        metadata: { name: 'hostile' },
        roleRef: { apiGroup, kind: 'Role', name: 'hostile' },
        subjects: [{ kind: 'ServiceAccount', namespace: 'default', name: 'hostile' }],
      }),
    ];
    expect(bound.map(({ status }) => status)).toEqual([201, 201]);
  }

  /** Gives the hostile user few seats and no queue. */
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
    client?.destroy();
    await api?.close();
    await cluster.destroy();
  });

  it.each(hostileRequests)('refuses %s', async (_name, method, target, body, type, code) => {
    const sent = { ...(body !== undefined && { body }), ...(type !== undefined && { type }) };
    expectRefused(await client.send(method, target, sent), code);
  });

  it('accepts long selectors and large objects within the limits', async () => {
    const values = Array.from({ length: 8_000 }, (_, i) => `v${i}`).join(',');
    const selector = encodeURIComponent(`x in (${values})`);
    expect((await client.send('GET', `${path}?labelSelector=${selector}`)).status).toBe(200);
    const body = `{"metadata":{"name":"many"},"data":${manyKeys(50_000, 'k', '')}}`;
    expect((await client.send('POST', path, { body })).status).toBe(201);
    expect((await client.send('DELETE', `${path}/many`)).status).toBe(200);
  });

  it.each([
    'GARBAGE\r\n\r\n',
    'GET / HTTP/9.9\r\nHost: x\r\n\r\n',
    'GET / HTTP/1.1\r\nHost: x\r\nContent-Length: frob\r\n\r\n',
    'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
    'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
    `GET / HTTP/1.1\r\nHost: x\r\n${'X-A: b\r\n'.repeat(50_000)}\r\n`,
  ])('responds to malformed HTTP with a Status and closes the connection', async (text) => {
    const [head = '', body = ''] = (await client.talk(text)).split('\r\n\r\n');
    const status = Number(head.split(' ')[1]);
    expectRefused({ status, headers: {}, text: body });
    expect(head).toContain('Connection: close');
  });

  it('closes connections without TLS', async () => {
    expect(await client.talk('GET / HTTP/1.1\r\nHost: x\r\n\r\n', false)).not.toContain(
      'HTTP/1.1 2',
    );
    await client.talk(Buffer.alloc(5_000, 0x16), false);
  });

  it('serves other clients beside half-open connections and a thousand idle watches', async () => {
    const port = Number(new URL(cluster.url).port);
    const halfOpen = Array.from({ length: 200 }, () =>
      connect(port, '127.0.0.1').on('error', () => undefined),
    );
    const before = residentBytes(pid);
    const watches: { destroy(): void }[] = [];
    const own = new Agent({ ca, keepAlive: false });
    for (let round = 0; round < 20; round += 1) {
      await Promise.all(
        Array.from({ length: 50 }, () =>
          client.openIdleWatch(own).then((watch) => watches.push(watch)),
        ),
      );
    }
    expect(watches).toHaveLength(1_000);
    // Watches occupy no seats, so many more of them than requests are admitted.
    expect((await client.send('GET', path)).status).toBe(200);
    expect((await client.send('POST', path, { body: '{"metadata":{"name":"b"}}' })).status).toBe(
      201,
    );
    expect(residentBytes(pid) - before).toBeLessThan(300 << 20);
    expect(await watchCount()).toBeGreaterThanOrEqual(1_000);
    for (const watch of watches) watch.destroy();
    for (const socket of halfOpen) socket.destroy();
    own.destroy();
    await eventually('the watches to be released', async () => (await watchCount()) === 0);
  });

  async function watchCount(): Promise<number> {
    const { body } = await api.text('GET', '/metrics');
    const lines = body
      .split('\n')
      .filter((line) => line.startsWith('apiserver_registered_watchers{'));
    return lines.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);
  }

  it('refuses requests beyond the seats of a user, with a time to retry, while bodies arrive slowly', async () => {
    const own = new Agent({ ca, keepAlive: false });
    const statuses: number[] = [];
    const retryAfter: unknown[] = [];
    const slow = Array.from({ length: 200 }, () => {
      const headers = {
        authorization: `Bearer ${hostile}`,
        'content-type': 'application/json',
        'content-length': '1000',
      };
      const options = { method: 'POST', agent: own, headers };
      const sending = request(`${cluster.url}${path}`, options, (response) => {
        statuses.push(response.statusCode ?? 0);
        retryAfter.push(response.headers['retry-after']);
        response.resume();
      });
      sending.on('error', () => undefined);
      sending.write('{"metadata":');
      return sending;
    });
    await eventually('refusals', () => statuses.length === 200 - seatsMax);
    expect(new Set(statuses)).toEqual(new Set([429]));
    for (const seconds of retryAfter) expect(Number(seconds)).toBeGreaterThan(0);
    const headers = { authorization: `Bearer ${hostile}` };
    const late = await client.send('GET', path, { headers });
    expect([late.status, late.text]).toEqual([429, 'Too many requests, please try again later.\n']);
    expect(Number(late.headers['retry-after'])).toBeGreaterThan(0);
    // Other users have seats of their own.
    expect((await client.send('GET', path)).status).toBe(200);
    for (const sending of slow) sending.destroy();
    own.destroy();
    await eventually('the seats to be free again', async () => {
      const body = JSON.stringify({ metadata: { generateName: 'again-' } });
      return (await client.send('POST', path, { body, headers })).status === 201;
    });
  });

  it('serves or refuses each request of a flood, and releases its memory', async () => {
    const own = new Agent({ ca, keepAlive: true, maxSockets: 200 });
    const value = 'x'.repeat(500_000);
    for (let i = 0; i < 10; i += 1) {
      const body = JSON.stringify({ metadata: { name: `flood-${i}` }, data: { value } });
      expect((await client.send('POST', path, { body })).status).toBe(201);
    }
    const before = residentBytes(pid);
    const codes = new Map<number, number>();
    await Promise.all(
      Array.from({ length: 400 }, async () => {
        const status = await client.statusOf(own, path, hostile);
        codes.set(status, (codes.get(status) ?? 0) + 1);
      }),
    );
    own.destroy();
    expect([...codes.keys()].filter((code) => code !== 200 && code !== 429)).toEqual([]);
    expect(codes.get(200)).toBeGreaterThanOrEqual(seatsMax);
    await eventually(
      'memory to be released',
      () => residentBytes(pid) - before < 150 << 20,
      20_000,
    );
  });
});
