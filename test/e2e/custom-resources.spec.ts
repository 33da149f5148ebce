/**
 * Custom resources in a cluster of three: a definition that one server reports as established is
 * served by every other immediately. With controllers: custom objects are deleted with namespaces
 * and owners.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Api } from './support/api.js';
import { Cluster } from './support/cluster.js';
import { ReplicaServers } from './support/replica-servers.js';
import { eventually } from './support/wait.js';

const definitions = '/apis/apiextensions.orch.io/v1/customresourcedefinitions';

interface Definition {
  readonly status?: { readonly conditions?: { readonly type: string; readonly status: string }[] };
}

interface Gear {
  readonly metadata: { readonly name: string; readonly uid: string };
}

function definition(group: string) {
  const schema = {
    openAPIV3Schema: { type: 'object', 'x-orch-preserve-unknown-fields': true },
  };
  return {
    metadata: { name: `gears.${group}` },
    spec: {
      group,
      scope: 'Namespaced',
      names: { plural: 'gears', kind: 'Gear' },
      versions: [{ name: 'v1', served: true, storage: true, schema }],
    },
  };
}

function gear(group: string, name: string, metadata: object = {}) {
  return { apiVersion: `${group}/v1`, kind: 'Gear', metadata: { name, ...metadata } };
}

function isEstablished({ status }: Definition): boolean {
  return (status?.conditions ?? []).some(
    (condition) => condition.type === 'Established' && condition.status === 'True',
  );
}

describe('on three servers', () => {
  let replicas: ReplicaServers;

  beforeAll(async () => {
    replicas = await ReplicaServers.start(3, []);
  });

  afterAll(() => replicas?.destroy());

  it('a kind is served by each when one reports it, and is deleted with its objects', async () => {
    const [first, second, third] = replicas.running();
    for (const round of [1, 2, 3]) {
      const group = `round${round}.example.com`;
      const path = `/apis/${group}/v1/namespaces/default/gears`;
      const made = await replicas.call(first!, 'POST', definitions, definition(group));
      expect(made.status).toBe(201);
      await eventually('the definition to be established', async () =>
        isEstablished(
          (await replicas.call<Definition>(first!, 'GET', `${definitions}/gears.${group}`)).body,
        ),
      );
      // Without a wait: these servers may not have applied it yet.
      const answers = await Promise.all([
        replicas.call(second!, 'POST', path, gear(group, 'a')),
        replicas.call(third!, 'POST', path, gear(group, 'b')),
      ]);
      expect(answers.map(({ status }) => status)).toEqual([201, 201]);
      for (const server of [first!, second!, third!]) {
        const { body } = await replicas.call<{ items: Gear[] }>(server, 'GET', path);
        expect(body.items.map(({ metadata }) => metadata.name)).toEqual(['a', 'b']);
      }
      await replicas.call(second!, 'DELETE', `${definitions}/gears.${group}`);
      await eventually('the definition to go', async () => {
        const { status } = await replicas.call(third!, 'GET', `${definitions}/gears.${group}`);
        return status === 404;
      });
      await eventually('the kind to go from the first server', async () => {
        return (await replicas.call(first!, 'GET', path)).status === 404;
      });
    }
  });
});

describe('with controllers', () => {
  const cluster = new Cluster({
    dialect: 'orch',
    replicas: 1,
    components: 'apiserver,controller-manager',
  });
  const group = 'controlled.example.com';
  let api: Api;

  beforeAll(async () => {
    await cluster.up();
    api = new Api(cluster);
    await api.call('POST', definitions, definition(group));
    await eventually('the definition to be established', async () =>
      isEstablished((await api.call<Definition>('GET', `${definitions}/gears.${group}`)).body),
    );
  });

  afterAll(() => cluster.destroy());

  const gears = (namespace: string) => `/apis/${group}/v1/namespaces/${namespace}/gears`;

  async function isGone(path: string): Promise<boolean> {
    return (await api.call('GET', path)).status === 404;
  }

  it('a namespace is deleted with its custom objects', async () => {
    await api.call('POST', '/api/v1/namespaces', { metadata: { name: 'ending' } });
    await api.call('POST', gears('ending'), gear(group, 'a'));
    await api.call('DELETE', '/api/v1/namespaces/ending');
    await eventually('the namespace to go', () => isGone('/api/v1/namespaces/ending'));
    const { body } = await api.call<{ items: Gear[] }>('GET', `/apis/${group}/v1/gears`);
    expect(body.items).toEqual([]);
  });

  it('an owner is deleted with its dependents, custom or not', async () => {
    const { body: owner } = await api.call<Gear>('POST', gears('default'), gear(group, 'owner'));
    const ownerReferences = [
      { apiVersion: `${group}/v1`, kind: 'Gear', name: 'owner', uid: owner.metadata.uid },
    ];
    await api.call('POST', gears('default'), gear(group, 'owned', { ownerReferences }));
    await api.call('POST', '/api/v1/namespaces/default/configmaps', {
      metadata: { name: 'owned', ownerReferences },
    });
    await api.call('DELETE', `${gears('default')}/owner`);
    await eventually('the dependents to go', async () => {
      const gone = await Promise.all([
        isGone(`${gears('default')}/owned`),
        isGone('/api/v1/namespaces/default/configmaps/owned'),
      ]);
      return gone.every(Boolean);
    });
  });
});
