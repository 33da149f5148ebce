/** The whole server, over TLS, on a port and in a directory of its own. */
import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { connect } from 'node:http2';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Answer, type Ask, RunningServer } from './testing/running-server.js';

let server: RunningServer;

const call = (method: string, path: string, ask?: Ask): Promise<Answer> =>
  server.call(method, path, ask);

const configMaps = '/api/v1/namespaces/default/configmaps';
const merge = { 'content-type': 'application/merge-patch+json' };

describe('API server', () => {
  beforeAll(async () => {
    server = await RunningServer.start();
  }, 30_000);

  afterAll(() => server.stop());

  it('creates, reads, changes and deletes an object', async () => {
    const created = await call('POST', configMaps, {
      body: { metadata: { name: 'life' }, data: { a: '1' } },
    });
    expect(created).toMatchObject({
      code: 201,
      body: { kind: 'ConfigMap', metadata: { name: 'life', namespace: 'default' } },
    });
    expect(await call('GET', `${configMaps}/life`)).toMatchObject({
      code: 200,
      text: created.text,
    });
    const patched = await call('PATCH', `${configMaps}/life`, {
      headers: merge,
      body: { data: { b: '2' } },
    });
    expect(patched).toMatchObject({ code: 200, body: { data: { a: '1', b: '2' } } });
    const stale = await call('PUT', `${configMaps}/life`, { body: created.body as object });
    expect(stale).toMatchObject({ code: 409, body: { reason: 'Conflict' } });
    expect(await call('DELETE', `${configMaps}/life`)).toMatchObject({
      code: 200,
      body: { kind: 'Status', status: 'Success', details: { name: 'life', kind: 'configmaps' } },
    });
    expect(await call('GET', `${configMaps}/life`)).toMatchObject({ code: 404 });
  });

  it('pages through a list at one version', async () => {
    for (const name of ['p1', 'p2', 'p3']) {
      await call('POST', configMaps, { body: { metadata: { name, labels: { page: 'x' } } } });
    }
    const path = `${configMaps}?limit=2&labelSelector=page%3Dx`;
    const first = (await call('GET', path)).body as {
      metadata: { continue: string; resourceVersion: string };
      items: { metadata: { name: string } }[];
    };
    expect(first.items.map(({ metadata }) => metadata.name)).toEqual(['p1', 'p2']);
    await call('DELETE', `${configMaps}/p3`);
    const second = await call('GET', `${path}&continue=${first.metadata.continue}`);
    expect(second.body).toMatchObject({
      metadata: { resourceVersion: first.metadata.resourceVersion },
      items: [{ metadata: { name: 'p3' } }],
    });
  });

  it('streams changes from a version, in order, to many watchers alike', async () => {
    const list = (await call('GET', configMaps)).body as { metadata: { resourceVersion: string } };
    const path = `${configMaps}?watch=1&resourceVersion=${list.metadata.resourceVersion}`;
    const watchers = await Promise.all(
      [1, 2, 3].map(() => server.open('GET', `${path}&fieldSelector=metadata.name%3Dseen`)),
    );
    await call('POST', configMaps, { body: { metadata: { name: 'unseen' } } });
    await call('POST', configMaps, { body: { metadata: { name: 'seen' } } });
    await call('PUT', `${configMaps}/seen`, {
      body: { metadata: { name: 'seen' }, data: { x: 'y' } },
    });
    await call('DELETE', `${configMaps}/seen`);
    const streams = await Promise.all(watchers.map((answer) => events(answer, 3)));
    for (const stream of streams) {
      expect(stream.map(({ type }) => type)).toEqual(['ADDED', 'MODIFIED', 'DELETED']);
      expect(stream).toEqual(streams[0]);
    }
  });

  it('says what is wrong with a write in the order in which clients know it', async () => {
    await call('POST', configMaps, { body: { metadata: { name: 'named' } } });
    const nameless = await call('PUT', `${configMaps}/named`, { body: { metadata: {} } });
    expect(nameless).toMatchObject({
      code: 400,
      body: {
        message:
          'the name of the object (named based on URL) was undeterminable: name must be provided',
      },
    });
    const cleared = await call('PATCH', `${configMaps}/named`, {
      headers: merge,
      body: { metadata: { name: null } },
    });
    expect(cleared.body).toMatchObject({ message: (nameless.body as { message: string }).message });
    const absent = await call('PATCH', `${configMaps}/absent`, { headers: merge, body: [] });
    expect(absent).toMatchObject({ code: 404 });
    const elsewhere = await call('PUT', '/api/v1/namespaces/nowhere/configmaps/a', {
      body: { metadata: { name: 'a' } },
    });
    expect(elsewhere).toMatchObject({
      code: 404,
      body: { details: { kind: 'namespaces', name: 'nowhere' } },
    });
    const service = await call('PUT', '/api/v1/namespaces/default/services/absent', {
      body: { metadata: { name: 'absent' }, spec: { ports: [{ port: 1 }] } },
    });
    expect(service).toMatchObject({ code: 404, body: { details: { kind: 'services' } } });
    expect((await call('HEAD', `${configMaps}/named`)).code).toBe(405);
  });

  it('keeps names unique and lets one of two racing writers win', async () => {
    const bodies = Array.from({ length: 8 }, (_, index) => ({
      metadata: { name: 'race' },
      data: { writer: String(index) },
    }));
    const codes = await Promise.all(
      bodies.map((body) => call('POST', configMaps, { body }).then(({ code }) => code)),
    );
    expect(codes.filter((code) => code === 201)).toHaveLength(1);
    expect(codes.filter((code) => code === 409)).toHaveLength(7);
    const patches = await Promise.all(
      bodies.map((_, index) =>
        call('PATCH', `${configMaps}/race`, {
          headers: merge,
          body: { data: { [`k${index}`]: 'v' } },
        }),
      ),
    );
    expect(patches.every(({ code }) => code === 200)).toBe(true);
    const final = (await call('GET', `${configMaps}/race`)).body as { data: object };
    expect(Object.keys(final.data)).toHaveLength(9);
  });

  it('gives every service an address of its own', async () => {
    const created = await Promise.all(
      Array.from({ length: 10 }, (_, index) =>
        call('POST', '/api/v1/namespaces/default/services', {
          body: { metadata: { name: `s${index}` }, spec: { ports: [{ port: 80 }] } },
        }),
      ),
    );
    const addresses = created.map(
      ({ body }) => (body as { spec: { clusterIP: string } }).spec.clusterIP,
    );
    expect(new Set(addresses).size).toBe(10);
  });

  it('speaks HTTP/2 on the same port', async () => {
    const session = connect(`https://127.0.0.1:${server.port}`, { rejectUnauthorized: false });
    const stream = session.request({
      ':path': '/api/v1/namespaces',
      authorization: 'Bearer secret',
    });
    const [headers] = await once(stream, 'response');
    let text = '';
    for await (const chunk of stream) text += chunk;
    session.close();
    expect(headers[':status']).toBe(200);
    expect(
      JSON.parse(text).items.map((item: { metadata: { name: string } }) => item.metadata.name),
    ).toContain('default');
  });

  it('answers reviews with what it would decide itself', async () => {
    const review = (plural: string, spec: object, group = 'authorization') =>
      call('POST', `/apis/${group}.orch.io/v1/${plural}`, { body: { spec } });
    const resourceAttributes = { verb: 'get', resource: 'pods' };
    expect(await review('selfsubjectaccessreviews', { resourceAttributes })).toMatchObject({
      code: 201,
      body: { kind: 'SelfSubjectAccessReview', status: { allowed: true } },
    });
    expect(await review('subjectaccessreviews', { user: 'a', resourceAttributes })).toMatchObject({
      body: { status: { allowed: false } },
    });
    const local = '/apis/authorization.orch.io/v1/namespaces/default/localsubjectaccessreviews';
    expect(
      await call('POST', local, {
        body: {
          metadata: { namespace: 'default' },
          spec: {
            groups: ['system:masters'],
            resourceAttributes: { ...resourceAttributes, namespace: 'default' },
          },
        },
      }),
    ).toMatchObject({ code: 201, body: { status: { allowed: true } } });
    expect(await review('selfsubjectrulesreviews', { namespace: 'default' })).toMatchObject({
      body: { spec: {}, status: { resourceRules: [{ verbs: ['*'] }], incomplete: false } },
    });
    expect(await review('selfsubjectrulesreviews', {})).toMatchObject({ code: 400 });
    const token = (spec: object) => review('tokenreviews', spec, 'authentication');
    expect(await token({ token: 'secret' })).toMatchObject({
      body: { status: { authenticated: true, user: { username: 'admin', uid: '1' } } },
    });
    for (const spec of [{ token: 'other' }, { token: 'secret', audiences: ['elsewhere'] }]) {
      expect(await token(spec)).toMatchObject({
        code: 201,
        body: { status: { user: {}, error: 'invalid bearer token' } },
      });
    }
  });

  it('takes bindings that name their pod', async () => {
    const bind = (name: string) =>
      call('POST', '/api/v1/namespaces/default/bindings', {
        body: { metadata: { name }, target: { kind: 'Node', name: 'a' } },
      });
    expect(await bind('')).toMatchObject({ code: 400 });
    expect(await bind('nobody')).toMatchObject({ code: 404 });
  });

  it('keeps the flow control that every cluster has', async () => {
    const path = '/apis/flowcontrol.apiserver.orch.io/v1beta1/flowschemas/catch-all';
    const { body } = await call('GET', path);
    expect(body).toMatchObject({ status: { conditions: [{ type: 'Dangling', status: 'False' }] } });
    expect(await call('DELETE', path)).toMatchObject({ code: 200 });
    await expect.poll(async () => (await call('GET', path)).code).toBe(200);
    const { metadata } = (await call('GET', path)).body as { metadata: { uid: string } };
    expect(metadata.uid).not.toBe((body as { metadata: { uid: string } }).metadata.uid);
  });

  it('lets strangers see health and nothing else', async () => {
    expect(await call('GET', '/readyz', { token: null })).toMatchObject({ code: 200, text: 'ok' });
    expect(await call('GET', configMaps, { token: null })).toMatchObject({
      code: 403,
      body: {
        message:
          'configmaps is forbidden: User "system:anonymous" cannot list resource "configmaps" in API group "" in the namespace "default"',
      },
    });
    expect(await call('GET', '/readyz', { token: 'wrong' })).toMatchObject({
      code: 401,
      body: { reason: 'Unauthorized' },
    });
  });

  it('refuses a port in use before it touches its directory, and a directory of something else', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'orch-other-'));
    try {
      const dataDir = join(directory, 'other');
      const { port } = server;
      await expect(RunningServer.start([], { dataDir, port })).rejects.toThrow(
        'is in use; choose another',
      );
      expect(readdirSync(directory)).toEqual([]);
      writeFileSync(join(directory, 'tokens.csv'), 'something else');
      await expect(RunningServer.start([], { dataDir: directory })).rejects.toThrow(
        /holds .*not an API server/,
      );
    } finally {
      rmSync(directory, { recursive: true });
    }
  });
});

interface Event {
  readonly type: string;
  readonly object: object;
}

async function events(answer: IncomingMessage, count: number): Promise<Event[]> {
  let text = '';
  for await (const chunk of answer) {
    text += chunk;
    const lines = text.split('\n').slice(0, -1);
    if (lines.length >= count)
      return lines.slice(0, count).map((line) => JSON.parse(line) as Event);
  }
  throw new Error(`the watch ended after ${text}`);
}
