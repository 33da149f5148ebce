/**
 * The guarantees of writes by verb and option, on a real server: dry runs that change nothing, the
 * remaining state after each deletion, and preconditions that are checked first.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Api } from './support/api.js';
import { Cluster } from './support/cluster.js';

interface Stored {
  kind: string;
  message?: string;
  metadata: {
    name: string;
    uid: string;
    resourceVersion: string;
    finalizers?: string[];
    deletionTimestamp?: string;
  };
  items: Stored[];
}

const ns = '/api/v1/namespaces/default';
const maps = `${ns}/configmaps`;
const pods = `${ns}/pods`;
const deployments = '/apis/apps/v1/namespaces/default/deployments';

const labels = { app: 'web' };
const podSpec = { containers: [{ name: 'a', image: 'a:1' }] };
const template = { metadata: { labels }, spec: podSpec };
const deployment = (name: string) => ({
  metadata: { name },
  spec: { selector: { matchLabels: labels }, template },
});

describe('writes', () => {
  const cluster = new Cluster({ dialect: 'orch', replicas: 1, components: 'apiserver' });
  let api: Api;

  async function make(path: string, object: object): Promise<Stored> {
    const { status, body } = await api.call<Stored>('POST', path, object);
    expect([status, body.message]).toEqual([201, undefined]);
    return body;
  }

  beforeAll(async () => {
    await cluster.up();
    api = new Api(cluster);
    const account = { metadata: { name: 'default' }, automountServiceAccountToken: false };
    await api.call('POST', `${ns}/serviceaccounts`, account);
    await make(maps, { metadata: { name: 'a' }, data: { x: '1' } });
    await make(deployments, deployment('web'));
    await make(pods, { metadata: { name: 'p' }, spec: podSpec });
    await make(pods, { metadata: { name: 'bound' }, spec: { ...podSpec, nodeName: 'n' } });
    await make('/api/v1/namespaces', { metadata: { name: 'other' } });
  });

  afterAll(() => cluster.destroy());

  /** All objects that a dry run could have changed. */
  async function everything(): Promise<string> {
    const lists = [maps, pods, deployments, '/api/v1/namespaces'];
    const answers = await Promise.all(lists.map((path) => api.call<Stored>('GET', path)));
    return JSON.stringify(answers.map(({ body }) => body.items));
  }

  const merge = 'application/merge-patch+json';
  const applied = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'a' },
    data: { x: '7' },
  };
  const scale = { metadata: { name: 'web' }, spec: { replicas: 7 } };
  const dryRun: [string, string, unknown, number, string?][] = [
    ['POST', maps, { metadata: { name: 'new' } }, 201],
    ['POST', maps, { metadata: { generateName: 'new-' } }, 201],
    ['POST', `${ns}/services`, { metadata: { name: 's' }, spec: { ports: [{ port: 80 }] } }, 201],
    ['PUT', `${maps}/a`, { metadata: { name: 'a' }, data: { x: '2' } }, 200],
    ['PATCH', `${maps}/a`, { data: { x: '3' } }, 200, merge],
    ['PATCH', `${maps}/a`, { data: { x: '4' } }, 200, 'application/strategic-merge-patch+json'],
    ['PATCH', `${maps}/a`, [{ op: 'remove', path: '/data' }], 200, 'application/json-patch+json'],
    ['PATCH', `${maps}/a?fieldManager=m&force=true`, applied, 200, 'application/apply-patch+yaml'],
    ['DELETE', `${maps}/a`, undefined, 200],
    ['DELETE', `${maps}/a`, {}, 200],
    ['DELETE', maps, undefined, 200],
    ['DELETE', `${pods}/bound?gracePeriodSeconds=0`, undefined, 200],
    ['DELETE', `${deployments}/web?propagationPolicy=Foreground`, undefined, 200],
    ['DELETE', '/api/v1/namespaces/other', undefined, 200],
    ['PUT', '/api/v1/namespaces/other/finalize', { metadata: { name: 'other' }, spec: {} }, 200],
    ['PATCH', `${pods}/p/status`, { status: { phase: 'Running' } }, 200, merge],
    ['PUT', `${deployments}/web/scale`, scale, 200],
    ['PATCH', `${deployments}/web/scale`, { spec: { replicas: 8 } }, 200, merge],
    ['POST', `${pods}/p/binding`, { metadata: { name: 'p' }, target: { name: 'n' } }, 201],
    ['POST', `${pods}/p/eviction`, { metadata: { name: 'p' } }, 201],
  ];
  it.each(dryRun)('%s %s changes nothing on a dry run', async (...request) => {
    const [method, path, object, status, type = 'application/json'] = request;
    const before = await everything();
    const body = object === undefined ? null : JSON.stringify(object);
    const answer = await api.send<Stored>(method, withQuery(path, 'dryRun=All'), body, type);
    expect([answer.status, answer.body.message]).toEqual([status, undefined]);
    expect(await everything()).toBe(before);
    const refused = await api.send<Stored>(method, withQuery(path, 'dryRun=Some'), body, type);
    expect([refused.status, refused.body.message]).toEqual([
      422,
      expect.stringContaining(
        'dryRun: Unsupported value: []string{"Some"}: supported values: "All"',
      ),
    ]);
    expect(await everything()).toBe(before);
  });

  const orphan = ['orphan'];
  const foreground = ['foregroundDeletion'];
  it.each<[string, object | undefined, string[] | undefined]>([
    ['', undefined, undefined],
    ['propagationPolicy=Background', undefined, undefined],
    ['propagationPolicy=Foreground', undefined, foreground],
    ['propagationPolicy=Orphan', undefined, orphan],
    ['orphanDependents=true', undefined, orphan],
    ['orphanDependents=false', undefined, undefined],
    ['', { propagationPolicy: 'Background' }, undefined],
    ['', { propagationPolicy: 'Foreground' }, foreground],
    ['', { propagationPolicy: 'Orphan' }, orphan],
    ['', { orphanDependents: true }, orphan],
    // With a body, the query is ignored.
    ['propagationPolicy=Orphan', { propagationPolicy: 'Foreground' }, foreground],
  ])('a deletion with "%s" and %j leaves the finalizers %j', async (query, options, left) => {
    const { metadata } = await make(deployments, deployment('going'));
    const path = `${deployments}/going`;
    const deleted = await api.call<Stored>('DELETE', `${path}?${query}`, options);
    expect([deleted.status, deleted.body.kind]).toEqual([200, left ? 'Deployment' : 'Status']);
    const held = await api.call<Stored>('GET', path);
    expect(held.status).toBe(left ? 200 : 404);
    if (!left) return;
    expect(held.body.metadata).toMatchObject({ uid: metadata.uid, finalizers: left });
    expect(held.body.metadata.deletionTimestamp).toBeDefined();
    const release = JSON.stringify({ metadata: { finalizers: null } });
    expect((await api.send('PATCH', path, release, merge)).status).toBe(200);
    expect((await api.call('GET', path)).status).toBe(404);
  });

  const strange = '00000000-0000-0000-0000-000000000001';
  it.each([
    ['PUT', `${maps}/a`, { metadata: { name: 'a', uid: strange, resourceVersion: '1' } }],
    ['PUT', `${maps}/none`, { metadata: { name: 'none', uid: strange } }],
    ['PUT', `${deployments}/web/scale`, { ...scale, metadata: { name: 'web', uid: strange } }],
    ['PUT', `${deployments}/none/scale`, { ...scale, metadata: { name: 'none', uid: strange } }],
    ['PUT', `${pods}/p/status`, { metadata: { name: 'p', uid: strange } }],
  ])('%s %s checks the uid first', async (method, path, object) => {
    const { status, body } = await api.call<Stored>(method, path, object);
    expect([status, body.message]).toEqual([
      409,
      expect.stringContaining(`Precondition failed: UID in precondition: ${strange}`),
    ]);
  });

  it.each([
    [{ uid: strange }, 409],
    [{ resourceVersion: '1' }, 409],
    [{}, 200],
  ])('a deletion with preconditions %j returns %i', async (preconditions, status) => {
    await api.call('POST', maps, { metadata: { name: 'wanted' } });
    const answer = await api.call('DELETE', `${maps}/wanted`, { preconditions });
    expect(answer.status).toBe(status);
  });

  it('a deletion with two policies for dependents is refused', async () => {
    const options = { orphanDependents: true, propagationPolicy: 'Orphan' };
    expect((await api.call('DELETE', `${maps}/a`, options)).status).toBe(422);
  });
});

function withQuery(path: string, query: string): string {
  return `${path}${path.includes('?') ? '&' : '?'}${query}`;
}
