import { resources } from '@orch/client';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { replicaSet } from '../../test/objects.js';
import { ControllerHarness } from '../testing/controller-harness.js';
import { garbageCollector } from './garbage-collector.js';

type Policy = 'Background' | 'Foreground' | 'Orphan';

describe('garbageCollector', () => {
  let harness: ControllerHarness;
  let ownerUid: string;
  const seedDependent = (name: string, uid: string) =>
    harness.server.seed(resources.pods, {
      metadata: {
        name,
        namespace: 'default',
        ownerReferences: [
          { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'web', uid, blockOwnerDeletion: true },
        ],
      },
    });
  const deleteOwner = async (propagationPolicy: Policy) => {
    const client = harness.client.resource(resources.replicaSets, 'default');
    await client.delete('web', { propagationPolicy });
    await harness.settle();
  };
  const names = () => [
    ...harness.names(resources.replicaSets),
    ...harness.names(resources.pods, 'default'),
  ];

  beforeEach(async () => {
    harness = new ControllerHarness([garbageCollector]);
    const { metadata, ...body } = replicaSet({ name: 'web' });
    const owner = harness.server.seed(resources.replicaSets, { metadata, ...body });
    ownerUid = owner.metadata?.uid ?? '';
    seedDependent('a', ownerUid);
    seedDependent('b', ownerUid);
    await harness.start();
  });
  afterEach(() => harness.stop());

  it('deletes the dependents of a deleted owner', async () => {
    await deleteOwner('Background');
    expect(names()).toEqual([]);
  });

  it('deletes a foreground-deleted owner after its dependents', async () => {
    harness.server.change(resources.pods, 'default/a', (object) => ({
      ...object,
      metadata: { ...object.metadata, finalizers: ['example.com/hold'] },
    }));
    await deleteOwner('Foreground');
    expect(names()).toEqual(['web', 'a']);
    const pods = harness.client.resource(resources.pods, 'default');
    await pods.patch('a', { metadata: { finalizers: null } }, { type: 'merge' });
    await harness.settle();
    expect(names()).toEqual([]);
  });

  it('removes the owner reference from the dependents of an orphaning owner', async () => {
    await deleteOwner('Orphan');
    expect(names()).toEqual(['a', 'b']);
    for (const key of ['default/a', 'default/b']) {
      expect(harness.server.get(resources.pods, key)?.metadata?.ownerReferences).toEqual([]);
    }
  });

  it('deletes a dependent whose owner never existed, and keeps one that has a living owner', async () => {
    seedDependent('c', 'uid-of-an-earlier-web');
    await harness.settle();
    expect(names()).toEqual(['web', 'a', 'b']);
  });

  it('patches again after a conflict with another writer', async () => {
    harness.server.interceptNext('PATCH', resources.pods, ({ name }) => {
      harness.server.change(resources.pods, `default/${name}`, (object) => ({
        ...object,
        metadata: { ...object.metadata, labels: { changed: 'yes' } },
      }));
    });
    await deleteOwner('Orphan');
    await harness.advance(1_000);
    expect(names()).toEqual(['a', 'b']);
  });

  it('deletes the dependents of an owner that was deleted while it was stopped', async () => {
    await harness.stop();
    await harness.client.resource(resources.replicaSets, 'default').delete('web');
    await harness.start();
    expect(names()).toEqual([]);
  });

  it('reports an owner in another namespace, and deletes the object unless it has no namespace', async () => {
    const reference = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'web', uid: ownerUid };
    const metadata = { name: 'stray', ownerReferences: [reference] };
    harness.server.seed(resources.pods, { metadata: { ...metadata, namespace: 'other' } });
    harness.server.seed(resources.nodes, { metadata });
    await harness.settle();
    await harness.advance(60_000);
    expect(harness.names(resources.pods, 'other')).toEqual([]);
    expect(harness.names(resources.nodes)).toEqual(['stray']);
    const report = (namespace: string) =>
      `OwnerRefInvalidNamespace: ownerRef [apps/v1/ReplicaSet, namespace: ${namespace}, name: web, uid: ${ownerUid}] does not exist in namespace "${namespace}"`;
    expect(harness.events().sort()).toEqual([report(''), report('other')]);
  });
});
