import type { StatefulSet } from '@orch/types/apps/v1';
import type { Pod } from '@orch/types/core/v1';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { pod, statefulSet } from '../../test/objects.js';
import { stateCount, stateTimeoutMs } from '../../test/states.js';
import { ordinalOf, podNameLabel, revisionLabel, revisionOfPod } from './stateful-pod.js';
import {
  isRunningAndReady,
  isTerminating,
  partitionOf,
  planStatefulSet,
  type StatefulSetState,
  type Step,
} from './statefulset-plan.js';

interface PodState {
  readonly ordinal: number;
  readonly phase: 'Pending' | 'Running' | 'Failed';
  readonly isReady: boolean;
  readonly isDeleted: boolean;
  readonly revision: string;
  readonly isLabelled: boolean;
}

function podOf({ ordinal, phase, isReady, isDeleted, revision, isLabelled }: PodState): Pod {
  const name = `web-${ordinal}`;
  return pod({
    name,
    phase,
    ready: isReady && phase === 'Running',
    deleting: isDeleted,
    labels: {
      app: 'web',
      [revisionLabel]: revision,
      ...(isLabelled ? { [podNameLabel()]: name } : {}),
    },
  });
}

const healthy = (ordinal: number, revision = 'new'): Pod =>
  podOf({
    ordinal,
    phase: 'Running',
    isReady: true,
    isDeleted: false,
    revision,
    isLabelled: true,
  });

const stateOf = (set: StatefulSet, pods: readonly Pod[]): StatefulSetState => ({
  set,
  currentRevision: 'old',
  updateRevision: 'new',
  pods,
});

const podStates: fc.Arbitrary<PodState> = fc.record({
  ordinal: fc.nat(7),
  phase: fc.constantFrom('Pending', 'Running', 'Running', 'Running', 'Failed'),
  isReady: fc.boolean(),
  isDeleted: fc.nat(5).map((n) => n === 0),
  revision: fc.constantFrom('old', 'new', 'other'),
  isLabelled: fc.nat(5).map((n) => n > 0),
});

const states: fc.Arbitrary<StatefulSetState> = fc
  .record({
    replicas: fc.nat(5),
    policy: fc.constantFrom('OrderedReady', 'Parallel'),
    strategy: fc.constantFrom('RollingUpdate', 'RollingUpdate', 'OnDelete'),
    partition: fc.nat(6),
    pods: fc.uniqueArray(podStates, { selector: ({ ordinal }) => ordinal, maxLength: 8 }),
  })
  .map(({ replicas, policy, strategy, partition, pods }) =>
    stateOf(statefulSet({ replicas, policy, strategy, partition }), pods.map(podOf)),
  );

const isHealthy = (one: Pod | undefined) =>
  one !== undefined && isRunningAndReady(one) && !isTerminating(one);

function ordinalOfStep({ set }: StatefulSetState, step: Step): number {
  return step.type === 'create' ? step.ordinal : ordinalOf(set, step.pod)!;
}

/** Fails if a step of the plan breaks a rule of stateful sets. */
function checkPlan(state: StatefulSetState, steps: readonly Step[]): void {
  const { set, pods } = state;
  const replicas = set.spec!.replicas!;
  const isOrdered = set.spec?.podManagementPolicy === 'OrderedReady';
  const isRolling = set.spec?.updateStrategy?.type === 'RollingUpdate';
  const byOrdinal = new Map(pods.map((one) => [ordinalOf(set, one)!, one]));
  const wanted = Array.from({ length: replicas }, (_, ordinal) => byOrdinal.get(ordinal));
  const ordinals = steps.map((step) => ordinalOfStep(state, step));
  expect(new Set(ordinals).size).toBe(ordinals.length);
  if (isOrdered) expect(steps.length).toBeLessThanOrEqual(1);
  let updateCount = 0;
  for (const [index, step] of steps.entries()) {
    const ordinal = ordinals[index]!;
    const below = wanted.slice(0, ordinal);
    if (isOrdered) expect(below.every(isHealthy)).toBe(true);
    if (step.type === 'create') {
      expect(byOrdinal.has(ordinal)).toBe(false);
      expect(ordinal).toBeLessThan(replicas);
      const isOld = isRolling && ordinal < partitionOf(set);
      expect(step.revision).toBe(isOld ? 'old' : 'new');
      continue;
    }
    expect(isTerminating(step.pod)).toBe(false);
    if (step.type === 'replace') expect(step.pod.status?.phase).toBe('Failed');
    if (step.type !== 'delete') continue;
    if (ordinal >= replicas) {
      if (!isOrdered) continue;
      expect(wanted.every(isHealthy)).toBe(true);
      expect(Math.max(...byOrdinal.keys())).toBe(ordinal);
      continue;
    }
    updateCount += 1;
    expect(isRolling).toBe(true);
    expect(revisionOfPod(step.pod)).not.toBe('new');
    expect(ordinal).toBeGreaterThanOrEqual(partitionOf(set));
    const above = wanted.slice(ordinal + 1);
    expect(above.every((one) => isHealthy(one) && revisionOfPod(one!) === 'new')).toBe(true);
  }
  expect(updateCount).toBeLessThanOrEqual(1);
}

/** Performs the steps; node agents remove deleted pods and make all others ready. */
function advance(state: StatefulSetState, steps: readonly Step[]): StatefulSetState {
  const changed = steps.flatMap((step) => ('pod' in step ? [step.pod] : []));
  const isFailed = (one: Pod) => one.status?.phase === 'Failed';
  const settled = state.pods
    .filter((one) => !changed.includes(one) && !isTerminating(one))
    .map((one) => (isFailed(one) ? one : readied(state, one)));
  const added = steps.flatMap((step): Pod[] => {
    if (step.type === 'create') return [healthy(step.ordinal, step.revision)];
    return step.type === 'repair' ? [healthy(step.ordinal, revisionOfPod(step.pod))] : [];
  });
  return { ...state, pods: [...settled, ...added] };
}

function readied({ set }: StatefulSetState, one: Pod): Pod {
  const isLabelled = one.metadata?.labels?.[podNameLabel()] !== undefined;
  const ordinal = ordinalOf(set, one)!;
  const state = { ordinal, revision: revisionOfPod(one), isLabelled, isDeleted: false };
  return podOf({ ...state, phase: 'Running', isReady: true });
}

describe('planStatefulSet', () => {
  it(
    'keeps the rules of order, partition and identity in every state',
    () => {
      fc.assert(
        fc.property(states, (state) => checkPlan(state, planStatefulSet(state))),
        { numRuns: stateCount },
      );
    },
    stateTimeoutMs,
  );

  it(
    'reaches the wanted pods from every state, within the rules',
    () => {
      const property = fc.property(states, (start) => {
        let state = start;
        for (let round = 0; round < 60; round++) {
          const steps = planStatefulSet(state);
          checkPlan(state, steps);
          state = advance(state, steps);
        }
        const { set, pods } = state;
        const replicas = set.spec!.replicas!;
        const names = pods.map(({ metadata }) => metadata?.name).sort();
        expect(names).toEqual(Array.from({ length: replicas }, (_, n) => `web-${n}`));
        expect(pods.every(isHealthy)).toBe(true);
        if (set.spec?.updateStrategy?.type !== 'RollingUpdate') return;
        const updated = pods.filter((one) => ordinalOf(set, one)! >= partitionOf(set));
        expect(updated.every((one) => revisionOfPod(one) === 'new')).toBe(true);
      });
      fc.assert(property, { numRuns: Math.ceil(stateCount / 10) });
    },
    stateTimeoutMs,
  );

  it('plans a bounded number of creations for a huge set', () => {
    const set = statefulSet({ replicas: 2_000_000_000, policy: 'Parallel' });
    expect(planStatefulSet(stateOf(set, [])).length).toBe(500);
  });

  it('plans nothing for a set that is being deleted', () => {
    const set = statefulSet({ replicas: 3 });
    set.metadata!.deletionTimestamp = '2021-06-01T00:00:00Z';
    expect(planStatefulSet(stateOf(set, []))).toEqual([]);
  });

  it('deletes an unhealthy surplus pod only if it is the last unhealthy one', () => {
    const set = statefulSet({ replicas: 1 });
    const unready = podOf({
      ordinal: 2,
      phase: 'Running',
      isReady: false,
      isDeleted: false,
      revision: 'new',
      isLabelled: true,
    });
    const deleting = (pods: Pod[]) => planStatefulSet(stateOf(set, pods)).map(({ type }) => type);
    expect(deleting([healthy(0), healthy(1), unready])).toEqual(['delete']);
    const alsoUnready = { ...unready, metadata: { ...unready.metadata, name: 'web-1' } };
    expect(deleting([healthy(0), alsoUnready, unready])).toEqual([]);
  });
});
