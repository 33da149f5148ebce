import type { Deployment, ReplicaSet } from '@orch/types/apps/v1';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { deployment, pod, replicaSet } from '../../test/objects.js';
import { boundsOf } from './bounds.js';
import { newReplicaSet } from './new-replica-set.js';
import { rollbackOf } from './rollback.js';
import { rolloutOf, sizeOf, sum } from './rollout.js';
import { planRollout } from './rollout-plan.js';

const noPods = () => [];
const rolling = (maxSurge: number | string, maxUnavailable: number | string) => ({
  type: 'RollingUpdate' as const,
  rollingUpdate: { maxSurge, maxUnavailable },
});
const ready = (count: number) => ({
  replicas: count,
  readyReplicas: count,
  availableReplicas: count,
  observedGeneration: 1,
});
const sizes = (sets: readonly ReplicaSet[]) =>
  Object.fromEntries(sets.map((one) => [one.metadata?.name, sizeOf(one)]));

describe('boundsOf', () => {
  it.each([
    [4, '25%', '25%', 1, 1],
    [3, '25%', '25%', 1, 0],
    [10, '25%', '25%', 3, 2],
    [1, 0, 0, 0, 1],
    [3, '0%', '10%', 0, 1],
    [2, 1, 5, 1, 2],
  ])('of %i with %s and %s: surge %i, missing %i', (replicas, surge, missing, up, down) => {
    const bounds = boundsOf(deployment({ replicas, strategy: rolling(surge, missing) }));
    expect(bounds).toEqual({ maxSurge: up, maxUnavailable: down });
  });
});

describe('planRollout', () => {
  it('makes the first replica set in full size, with revision 1 and a hash of its own', () => {
    const wanted = deployment({ replicas: 3, annotations: { team: 'a' } });
    const { create } = planRollout(rolloutOf(wanted, []), noPods);
    expect(create?.metadata?.name).toMatch(/^web-[bcdfghjklmnpqrstvwxz2456789]{6,10}$/);
    const hash = create?.metadata?.labels?.['pod-template-hash'];
    expect(create).toMatchObject({
      metadata: {
        annotations: {
          team: 'a',
          'deployment.orch.io/revision': '1',
          'deployment.orch.io/desired-replicas': '3',
          'deployment.orch.io/max-replicas': '4',
        },
        ownerReferences: [{ kind: 'Deployment', name: 'web', uid: 'uid-web', controller: true }],
      },
      spec: {
        replicas: 3,
        selector: { matchLabels: { app: 'web', 'pod-template-hash': hash } },
        template: { metadata: { labels: { 'pod-template-hash': hash } } },
      },
    });
  });

  it('names a template the same each time, and otherwise after a collision', () => {
    const first = newReplicaSet(rolloutOf(deployment({}), []));
    const again = newReplicaSet(rolloutOf(deployment({}), []));
    const other = newReplicaSet(rolloutOf(deployment({ status: { collisionCount: 1 } }), []));
    expect(again.metadata?.name).toBe(first.metadata?.name);
    expect(other.metadata?.name).not.toBe(first.metadata?.name);
  });

  it('grows the new replica set into the room above the old one', () => {
    const old = replicaSet({ name: 'old', replicas: 4, status: ready(4) });
    const wanted = deployment({ replicas: 4, image: 'web:2', strategy: rolling(1, 1) });
    const { create } = planRollout(rolloutOf(wanted, [old]), noPods);
    expect(create?.spec?.replicas).toBe(1);
    expect(create?.metadata?.annotations?.['deployment.orch.io/revision']).toBe('1');
  });

  it('takes away first what does not work', () => {
    const broken = replicaSet({ name: 'a', image: 'a', replicas: 3, status: ready(1), created: 1 });
    const good = replicaSet({ name: 'b', image: 'b', replicas: 3, status: ready(3), created: 2 });
    const current = newReplicaSet(
      rolloutOf(deployment({ replicas: 5, image: 'c' }), [broken, good]),
    );
    current.spec!.replicas = 1;
    const wanted = deployment({ replicas: 5, image: 'c', strategy: rolling(2, 1) });
    current.status = ready(0) as ReplicaSet['status'];
    const { changes } = planRollout(rolloutOf(wanted, [broken, good, current]), noPods);
    expect(sizes(changes)).toMatchObject({ a: 1 });
    expect(sizes(changes)).not.toHaveProperty('b');
  });

  it('shares a scaling among replica sets by their size', () => {
    const noted = {
      'deployment.orch.io/desired-replicas': '10',
      'deployment.orch.io/max-replicas': '13',
    };
    const old = replicaSet({ name: 'old', replicas: 8, annotations: noted, status: ready(8) });
    const current = replicaSet({
      name: 'new',
      image: 'b',
      replicas: 5,
      annotations: noted,
      created: 1,
    });
    const wanted = deployment({ replicas: 15, image: 'b', strategy: rolling(3, 2) });
    const { changes, isRollout } = planRollout(rolloutOf(wanted, [old, current]), noPods);
    expect(isRollout).toBe(false);
    expect(sizes(changes)).toEqual({ old: 11, new: 7 });
    expect(changes[0]?.metadata?.annotations).toMatchObject({
      'deployment.orch.io/desired-replicas': '15',
      'deployment.orch.io/max-replicas': '18',
    });
  });

  it('does not start a rollout while paused, but scales', () => {
    const old = replicaSet({ name: 'old', replicas: 3, status: ready(3) });
    const wanted = deployment({ replicas: 5, image: 'web:2', spec: { paused: true } });
    const plan = planRollout(rolloutOf(wanted, [old]), noPods);
    expect(plan.create).toBeUndefined();
    expect(sizes(plan.changes)).toEqual({ old: 5 });
  });

  it('recreates: old ones to zero, then waits for their pods, then the new one', () => {
    const wanted = deployment({ image: 'web:2', strategy: { type: 'Recreate' } });
    const old = replicaSet({ name: 'old', replicas: 3, status: ready(3) });
    const first = planRollout(rolloutOf(wanted, [old]), noPods);
    expect([sizes(first.changes), first.create]).toEqual([{ old: 0 }, undefined]);
    const emptied = replicaSet({ name: 'old', replicas: 0 });
    const waiting = planRollout(rolloutOf(wanted, [emptied]), () => [pod({ deleting: true })]);
    expect([waiting.changes, waiting.create]).toEqual([[], undefined]);
    const last = planRollout(rolloutOf(wanted, [emptied]), noPods);
    expect(last.create?.spec?.replicas).toBe(3);
  });

  it('retains as many old revisions as the limit allows when the rollout is complete', () => {
    const revisions = [1, 2, 3].map((revision) =>
      replicaSet({
        name: `r${revision}`,
        image: `i${revision}`,
        replicas: 0,
        annotations: { 'deployment.orch.io/revision': String(revision) },
      }),
    );
    const wanted = deployment({
      replicas: 1,
      image: 'now',
      spec: { revisionHistoryLimit: 1 },
      status: { ...ready(1), updatedReplicas: 1 },
    });
    const current = newReplicaSet(rolloutOf(wanted, revisions));
    current.status = ready(1);
    const { expired } = planRollout(rolloutOf(wanted, [...revisions, current]), noPods);
    expect(expired.map((one) => one.metadata?.name)).toEqual(['r1', 'r2']);
  });
});

describe('rollbackOf', () => {
  const asked = (revision: string) => ({ 'deprecated.deployment.rollback.to': revision });
  const at = (revision: number, image: string) =>
    replicaSet({
      name: `r${revision}`,
      image,
      annotations: { 'deployment.orch.io/revision': String(revision) },
    });

  it.each([
    ['0', 'DeploymentRollback', 'web:1'],
    ['1', 'DeploymentRollback', 'web:1'],
    ['2', 'DeploymentRollbackTemplateUnchanged', 'web:2'],
    ['7', 'DeploymentRollbackRevisionNotFound', 'web:2'],
  ])('to %s: %s', (revision, reason, image) => {
    const wanted = deployment({ image: 'web:2', annotations: asked(revision) });
    const rollback = rollbackOf(rolloutOf(wanted, [at(1, 'web:1'), at(2, 'web:2')]));
    expect(rollback?.event.reason).toBe(reason);
    expect(rollback?.deployment.spec?.template.spec?.containers?.[0]?.image).toBe(image);
    expect(rollback?.deployment.metadata?.annotations).not.toHaveProperty(
      Object.keys(asked('1'))[0]!,
    );
  });
});

/** A cluster of replica sets whose pods come up, break and go in any order. */
class Cluster {
  readonly sets: ReplicaSet[] = [];
  /** Per replica set: whether each pod works. */
  readonly pods = new Map<string, boolean[]>();

  constructor(public deployment: Deployment) {}

  podsOf = (set: ReplicaSet) => this.pods.get(set.metadata?.name ?? '') ?? [];

  get podCount(): number {
    return sum(this.sets, (set) => this.podsOf(set).length);
  }

  get availableCount(): number {
    return sum(this.sets, (set) => this.podsOf(set).filter(Boolean).length);
  }

  sync(): void {
    const rollout = rolloutOf(this.deployment, this.sets);
    const plan = planRollout(rollout, noPods);
    if (plan.create) {
      this.sets.push({ ...plan.create, status: { replicas: 0 } });
      return;
    }
    for (const change of plan.changes) {
      const index = this.sets.findIndex((set) => set.metadata?.name === change.metadata?.name);
      this.sets[index] = { ...this.sets[index], ...change };
    }
  }

  /** The replica set's controller: removes what does not work first, then reports. */
  replicate(index: number): void {
    const set = this.sets[index % this.sets.length];
    if (!set) return;
    const pods = [...this.podsOf(set)].sort((a, b) => Number(b) - Number(a));
    while (pods.length < sizeOf(set)) pods.push(false);
    pods.length = sizeOf(set);
    this.pods.set(set.metadata?.name ?? '', pods);
    const available = pods.filter(Boolean).length;
    const position = this.sets.indexOf(set);
    this.sets[position] = {
      ...set,
      status: { replicas: pods.length, readyReplicas: available, availableReplicas: available },
    };
  }

  becomeReady(index: number): void {
    const set = this.sets[index % this.sets.length];
    if (!set) return;
    const pods = this.podsOf(set);
    const waiting = pods.indexOf(false);
    if (waiting >= 0) pods[waiting] = true;
  }
}

describe('a rolling update', () => {
  const step = fc.record({
    kind: fc.constantFrom('sync', 'replicate', 'ready'),
    index: fc.nat(4),
  });

  it('never exceeds its surge nor falls below what must be available, and ends', () => {
    const bound = fc.oneof(fc.nat(4), fc.constantFrom('25%', '50%', '10%', '0%'));
    const scenario = fc.record({
      replicas: fc.integer({ min: 1, max: 12 }),
      maxSurge: bound,
      maxUnavailable: bound,
      steps: fc.array(step, { maxLength: 120 }),
    });
    fc.assert(
      fc.property(scenario, ({ replicas, maxSurge, maxUnavailable, steps }) => {
        const strategy = rolling(maxSurge, maxUnavailable);
        const cluster = new Cluster(deployment({ replicas, image: 'v1', strategy }));
        cluster.sync();
        cluster.replicate(0);
        for (let count = 0; count < replicas; count++) cluster.becomeReady(0);
        cluster.replicate(0);
        cluster.deployment = deployment({ replicas, image: 'v2', strategy });
        const bounds = boundsOf(cluster.deployment);
        const check = () => {
          expect(cluster.podCount).toBeLessThanOrEqual(replicas + bounds.maxSurge);
          expect(cluster.availableCount).toBeGreaterThanOrEqual(replicas - bounds.maxUnavailable);
        };
        for (const { kind, index } of steps) {
          if (kind === 'sync') cluster.sync();
          else if (kind === 'replicate') cluster.replicate(index);
          else cluster.becomeReady(index);
          check();
        }
        for (let round = 0; round < 60; round++) {
          cluster.sync();
          for (let index = 0; index < cluster.sets.length; index++) {
            for (let count = 0; count < replicas; count++) cluster.becomeReady(index);
            cluster.replicate(index);
          }
          check();
        }
        const current = rolloutOf(cluster.deployment, cluster.sets).current!;
        expect(cluster.podsOf(current)).toHaveLength(replicas);
        expect(cluster.podCount).toBe(replicas);
      }),
      { numRuns: 300 },
    );
  });
});
