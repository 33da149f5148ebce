/** A complete server, over TLS, with its own port and directory. */
import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { connect } from 'node:http2';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type RequestOptions,
  RunningServer,
  type ServerResponse,
} from './testing/running-server.js';

let server: RunningServer;

const call = (method: string, path: string, options?: RequestOptions): Promise<ServerResponse> =>
  server.call(method, path, options);

const configMaps = '/api/v1/namespaces/default/configmaps';
const merge = { 'content-type': 'application/merge-patch+json' };

describe('API server', () => {
  beforeAll(async () => {
    server = await RunningServer.start();
  }, 30_000);

  afterAll(() => server.stop());

  it('creates, reads, updates and deletes an object', async () => {
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

  it.each(['healthz', 'livez', 'readyz'])('passes every check of %s', async (endpoint) => {
    const { text } = await call('GET', `/${endpoint}?verbose`);
    const lines = text.trim().split('\n');
    expect(lines.at(-1)).toBe(`${endpoint} check passed`);
    expect(lines.slice(0, 3)).toEqual(['[+]ping ok', '[+]log ok', '[+]etcd ok']);
    expect(lines.length).toBeGreaterThan(20);
    expect(await call('GET', `/${endpoint}/store`)).toMatchObject({ code: 200, text: 'ok' });
  });

  it('serves all pages of a list at one version', async () => {
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

  it('streams the same ordered events from a version to all watchers', async () => {
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
    const streams = await Promise.all(watchers.map((response) => events(response, 3)));
    for (const stream of streams) {
      expect(stream.map(({ type }) => type)).toEqual(['ADDED', 'MODIFIED', 'DELETED']);
      expect(stream).toEqual(streams[0]);
    }
  });

  it('checks writes in the upstream order', async () => {
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

  it('accepts one of several racing creates, and every racing patch', async () => {
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

  it('allocates a different address to each service', async () => {
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

  it('serves HTTP/2 on the same port', async () => {
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

  it('responds to reviews with its own decisions', async () => {
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
      body: {
        spec: {},
        status: {
          resourceRules: expect.arrayContaining([
            { verbs: ['*'], apiGroups: ['*'], resources: ['*'] },
          ]),
          incomplete: false,
        },
      },
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

  it('rejects a binding without an existing pod', async () => {
    const bind = (name: string) =>
      call('POST', '/api/v1/namespaces/default/bindings', {
        body: { metadata: { name }, target: { kind: 'Node', name: 'a' } },
      });
    expect(await bind('')).toMatchObject({ code: 400 });
    expect(await bind('missing')).toMatchObject({ code: 404 });
  });

  it('recreates the mandatory flow schemas', async () => {
    const path = '/apis/flowcontrol.apiserver.orch.io/v1beta1/flowschemas/catch-all';
    const { body } = await call('GET', path);
    expect(body).toMatchObject({ status: { conditions: [{ type: 'Dangling', status: 'False' }] } });
    expect(await call('DELETE', path)).toMatchObject({ code: 200 });
    await expect.poll(async () => (await call('GET', path)).code).toBe(200);
    const { metadata } = (await call('GET', path)).body as { metadata: { uid: string } };
    expect(metadata.uid).not.toBe((body as { metadata: { uid: string } }).metadata.uid);
  });

  it('allows a service account only what a role binding grants', async () => {
    const rbac = '/apis/rbac.authorization.orch.io/v1/namespaces/default';
    const accounts = '/api/v1/namespaces/default/serviceaccounts';
    await server.must('POST', accounts, { metadata: { name: 'reader' } });
    const { status } = await server.must('POST', `${accounts}/reader/token`, { spec: {} });
    const list = (plural: string) =>
      call('GET', `/api/v1/namespaces/default/${plural}`, { token: status.token });
    expect(await list('secrets')).toMatchObject({
      code: 403,
      body: {
        message:
          'secrets is forbidden: User "system:serviceaccount:default:reader" cannot list resource "secrets" in API group "" in the namespace "default"',
      },
    });
    await server.must('POST', `${rbac}/roles`, {
      metadata: { name: 'secrets' },
      rules: [{ apiGroups: [''], resources: ['secrets'], verbs: ['list'] }],
    });
    await server.must('POST', `${rbac}/rolebindings`, {
      metadata: { name: 'secrets' },
      roleRef: { apiGroup: 'rbac.authorization.orch.io', kind: 'Role', name: 'secrets' },
      subjects: [{ kind: 'ServiceAccount', namespace: 'default', name: 'reader' }],
    });
    await expect.poll(async () => (await list('secrets')).code).toBe(200);
    expect((await list('configmaps')).code).toBe(403);
  });

  it('authorizes a list or watch of one object by its name', async () => {
    const rbac = '/apis/rbac.authorization.orch.io/v1/namespaces/default';
    const accounts = '/api/v1/namespaces/default/serviceaccounts';
    await server.must('POST', accounts, { metadata: { name: 'narrow' } });
    const { status } = await server.must('POST', `${accounts}/narrow/token`, { spec: {} });
    await server.must('POST', `${rbac}/roles`, {
      metadata: { name: 'one' },
      rules: [
        {
          ...{ apiGroups: [''], resources: ['configmaps'], resourceNames: ['one'] },
          verbs: ['list', 'watch'],
        },
      ],
    });
    await server.must('POST', `${rbac}/rolebindings`, {
      metadata: { name: 'one' },
      roleRef: { apiGroup: 'rbac.authorization.orch.io', kind: 'Role', name: 'one' },
      subjects: [{ kind: 'ServiceAccount', namespace: 'default', name: 'narrow' }],
    });
    const list = async (query: string) => {
      const path = `${configMaps}?timeoutSeconds=1&${query}`;
      return (await call('GET', path, { token: status.token })).code;
    };
    await expect.poll(() => list('fieldSelector=metadata.name%3Done')).toBe(200);
    expect(await list('watch=1&fieldSelector=metadata.name%3Done')).toBe(200);
    for (const query of [
      '',
      'fieldSelector=metadata.name%3Dtwo',
      'fieldSelector=metadata.name!%3Done',
    ]) {
      expect(await list(query)).toBe(403);
    }
  });

  it('allows anonymous requests for health only', async () => {
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

  it('rejects a port in use before it writes its directory, and a foreign directory', async () => {
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
        /holds .*no API server creates/,
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

async function events(response: IncomingMessage, count: number): Promise<Event[]> {
  let text = '';
  for await (const chunk of response) {
    text += chunk;
    const lines = text.split('\n').slice(0, -1);
    if (lines.length >= count)
      return lines.slice(0, count).map((line) => JSON.parse(line) as Event);
  }
  throw new Error(`the watch ended after ${text}`);
}
