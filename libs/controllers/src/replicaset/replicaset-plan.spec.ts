import type { Pod } from '@orch/types/core/v1';
import { describe, expect, it } from 'vitest';
import { at, epochMs, pod, replicaSet } from '../../test/objects.js';
import { podsToDelete } from '../common/deletion-order.js';
import { concernsReplicas, planReplicas, replicaSetStatus, sameStatus } from './replicaset-plan.js';

const rules = { byCost: true, byLogarithmicAge: false, nowMs: epochMs + 1_000_000 };

const owner = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'r', uid: 'r', controller: true };

const pods = (count: number) =>
  Array.from({ length: count }, (_, index) => pod({ name: `p${index}` }));

describe('planReplicas', () => {
  it.each([
    [3, 0, 3, 0],
    [3, 3, 0, 0],
    [3, 5, 0, 2],
    [0, 2, 0, 2],
    [2_000, 0, 500, 0],
  ])('wants %i, has %i: creates %i, deletes %i', (wanted, has, creates, deletes) => {
    const own = pods(has);
    const plan = planReplicas(replicaSet({ replicas: wanted }), own, () => own, rules);
    expect([plan.createCount, plan.deletions.length]).toEqual([creates, deletes]);
  });
});

describe('concernsReplicas', () => {
  const plain = pod({ name: 'p', node: 'a', labels: { app: 'web' } });
  const unready = pod({ name: 'p', node: 'a', labels: { app: 'web' }, ready: false });

  it.each([
    ['readiness', unready],
    ['the time of readiness', pod({ name: 'p', labels: { app: 'web' }, readySince: 60 })],
    ['labels', pod({ name: 'p', labels: { app: 'other' } })],
    ['the end of the pod', pod({ name: 'p', labels: { app: 'web' }, phase: 'Failed' })],
    ['owners', { ...plain, metadata: { ...plain.metadata, ownerReferences: [] } }],
  ])('is true for a change of %s', (what, changed) => {
    const owned = { ...plain, metadata: { ...plain.metadata, ownerReferences: [owner] } };
    expect(concernsReplicas(changed, what === 'owners' ? owned : plain)).toBe(true);
  });

  it('is false for the binding to a node and a new version', () => {
    const metadata = { ...plain.metadata, resourceVersion: '2' };
    const bound = { ...plain, metadata, spec: { ...plain.spec, nodeName: 'b' } };
    expect(concernsReplicas(bound, plain)).toBe(false);
  });
});

describe('podsToDelete', () => {
  const cost = (value: string) => ({ 'controller.orch.io/pod-deletion-cost': value });

  it.each([
    ['not assigned', pod({ node: 'a' }), pod({ phase: 'Pending' })],
    ['not running', pod({ node: 'a' }), pod({ node: 'a', phase: 'Pending' })],
    ['not ready', pod({ node: 'a' }), pod({ node: 'a', ready: false })],
    [
      'cheaper',
      pod({ node: 'a', annotations: cost('5') }),
      pod({ node: 'a', annotations: cost('-5') }),
    ],
    ['ready for less time', pod({ node: 'a' }), pod({ node: 'a', readySince: 60 })],
    ['restarted more often', pod({ node: 'a' }), pod({ node: 'a', restarts: 2 })],
    ['younger', pod({ node: 'a' }), pod({ node: 'a', created: 60 })],
  ])('takes the one that is %s', (_, kept, deleted) => {
    expect(podsToDelete([kept, deleted], [kept, deleted], 1, rules)).toEqual([deleted]);
    expect(podsToDelete([deleted, kept], [kept, deleted], 1, rules)).toEqual([deleted]);
  });

  it('spreads what remains over nodes, siblings of other replica sets counted', () => {
    const onA = pod({ name: 'a', node: 'a' });
    const onB = pod({ name: 'b', node: 'b' });
    const sibling = pod({ node: 'b' });
    expect(podsToDelete([onA, onB], [onA, onB, sibling], 1, rules)).toEqual([onB]);
  });

  it('considers deletion costs only if the feature is enabled', () => {
    const cheap = pod({ node: 'a', annotations: cost('-5') });
    const young = pod({ node: 'a', created: 60 });
    const without = { ...rules, byCost: false };
    expect(podsToDelete([cheap, young], [cheap, young], 1, rules)).toEqual([cheap]);
    expect(podsToDelete([cheap, young], [cheap, young], 1, without)).toEqual([young]);
  });

  it('takes ages of one power of two for alike, and still the younger of others', () => {
    const logarithmic = { ...rules, byLogarithmicAge: true, nowMs: epochMs + 1_000_000 };
    const old = pod({ node: 'a', created: 0 });
    const younger = pod({ node: 'a', created: 300 });
    const young = pod({ node: 'a', created: 900 });
    const order = (...given: Pod[]) => podsToDelete(given, given, 1, logarithmic)[0];
    expect(order(old, young)).toBe(young);
    const [first] = [old, younger].sort((a, b) => (a.metadata!.uid! < b.metadata!.uid! ? -1 : 1));
    expect(order(old, younger)).toBe(first);
    expect(order(younger, old)).toBe(first);
    expect(podsToDelete([old, younger], [old, younger], 1, rules)).toEqual([younger]);
  });
});

describe('replicaSetStatus', () => {
  it('counts labels, readiness and availability', () => {
    const set = replicaSet({ replicas: 3 });
    set.spec!.minReadySeconds = 10;
    const own = [
      pod({ labels: { app: 'web' }, readySince: 0 }),
      pod({ labels: { app: 'web' }, readySince: 95 }),
      pod({ ready: false }),
    ];
    expect(replicaSetStatus(set, own, undefined, epochMs + 100_000)).toMatchObject({
      replicas: 3,
      fullyLabeledReplicas: 2,
      readyReplicas: 2,
      availableReplicas: 1,
      observedGeneration: 1,
    });
  });

  it('notes a failure once and takes it back when it is over', () => {
    const set = replicaSet({});
    const failure = { reason: 'FailedCreate', message: 'quota' } as const;
    const failed = replicaSetStatus(set, [], failure, epochMs);
    expect(failed.conditions).toEqual([
      {
        type: 'ReplicaFailure',
        status: 'True',
        reason: 'FailedCreate',
        message: 'quota',
        lastTransitionTime: at(0),
      },
    ]);
    const again = { ...set, status: failed };
    const later = { reason: 'FailedCreate', message: 'other' } as const;
    expect(sameStatus(failed, replicaSetStatus(again, [], later, epochMs + 1_000))).toBe(true);
    expect(replicaSetStatus(again, [], undefined, epochMs).conditions).toEqual([]);
  });
});
