import type { Pod } from '@orch/types/core/v1';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { epochMs, pod } from '../../test/objects.js';
import { stateCount, stateTimeoutMs } from '../../test/states.js';
import { isPodReady } from '../common/pods.js';
import {
  type DaemonNode,
  type DaemonPlan,
  type DaemonState,
  planPods,
  planUpdate,
  type UpdateBounds,
} from './daemonset-plan.js';

const isUpdated = (one: Pod) => one.metadata?.labels?.version === 'new';

interface PodState {
  readonly phase: 'Pending' | 'Running' | 'Failed';
  readonly isReady: boolean;
  readonly isDeleted: boolean;
  readonly isNew: boolean;
  readonly created: number;
}

let podCount = 0;

function podOf(nodeName: string, isBound: boolean, state: PodState): Pod {
  return pod({
    name: `web-${++podCount}`,
    phase: state.phase,
    ready: state.isReady && state.phase === 'Running',
    deleting: state.isDeleted,
    created: state.created,
    labels: { version: state.isNew ? 'new' : 'old' },
    ...(isBound ? { node: nodeName } : {}),
  });
}

const newPod = (nodeName: string, isReady: boolean) =>
  podOf(nodeName, true, {
    phase: 'Running',
    isReady,
    isDeleted: false,
    isNew: true,
    created: 1_000,
  });

const podStates: fc.Arbitrary<PodState> = fc.record({
  phase: fc.constantFrom('Pending', 'Running', 'Running', 'Running', 'Failed'),
  isReady: fc.boolean(),
  isDeleted: fc.nat(6).map((n) => n === 0),
  isNew: fc.boolean(),
  created: fc.nat(100),
});

const nodes: fc.Arbitrary<readonly DaemonNode[]> = fc
  .array(
    fc.record({
      fit: fc.constantFrom('run', 'run', 'run', 'stay', 'leave', 'missing'),
      pods: fc.array(fc.tuple(fc.boolean(), podStates), { maxLength: 3 }),
    }),
    { maxLength: 6 },
  )
  .map((list) =>
    list.map(({ fit, pods }, index) => ({
      name: `node-${index}`,
      exists: fit !== 'missing',
      shouldRun: fit === 'run',
      mayStay: fit === 'run' || fit === 'stay',
      pods: pods.map(([isBound, state]) => podOf(`node-${index}`, isBound, state)),
    })),
  );

const states = fc
  .record({ nodes, isSurging: fc.boolean(), bound: fc.integer({ min: 1, max: 3 }) })
  .map(({ nodes, isSurging, bound }): [DaemonState, UpdateBounds] => [
    stateOf(nodes, isSurging),
    isSurging ? { maxSurge: bound, maxUnavailable: 0 } : { maxSurge: 0, maxUnavailable: bound },
  ]);

function stateOf(all: readonly DaemonNode[], isSurging = false): DaemonState {
  return {
    nodes: all,
    isUpdated,
    isSurging,
    minReadySeconds: 0,
    nowMs: epochMs + 3_600_000,
    failureDelayMs: () => 0,
  };
}

const staying = ({ pods }: DaemonNode) => pods.filter((one) => !one.metadata?.deletionTimestamp);
const availableOn = (node: DaemonNode, deletions: readonly Pod[] = []) =>
  staying(node).some((one) => isPodReady(one) && !deletions.includes(one));

/** The plan of one reconciliation: an update only if every node has the pods that it needs. */
function planOf(state: DaemonState, bounds: UpdateBounds): DaemonPlan {
  const plan = planPods(state);
  const isSettled = plan.creations.length === 0 && plan.deletions.length === 0;
  return isSettled ? planUpdate(state, bounds) : plan;
}

function checkUpdate(state: DaemonState, bounds: UpdateBounds, plan: DaemonPlan): void {
  const concerned = state.nodes.filter((node) => node.shouldRun);
  const broken = concerned.filter(
    (node) => availableOn(node) && !availableOn(node, plan.deletions),
  );
  const before = concerned.filter((node) => !availableOn(node)).length;
  if (broken.length > 0) expect(before + broken.length).toBeLessThanOrEqual(bounds.maxUnavailable);
  for (const deleted of plan.deletions) {
    expect(isUpdated(deleted)).toBe(false);
    expect(deleted.metadata?.deletionTimestamp).toBeUndefined();
  }
  for (const name of plan.creations) {
    const node = state.nodes.find((one) => one.name === name)!;
    expect(node.shouldRun).toBe(true);
    expect(staying(node).some(isUpdated)).toBe(false);
  }
  // A replaced pod is deleted in the plan that starts the next surge.
  const left = (node: DaemonNode) => staying(node).filter((one) => !plan.deletions.includes(one));
  const surging = (node: DaemonNode) => availableOn(node) && left(node).length > 1;
  const started = plan.creations.filter((name) =>
    availableOn(state.nodes.find((node) => node.name === name)!),
  );
  if (started.length > 0) {
    const surged = concerned.filter((node) => surging(node)).length;
    expect(surged + started.length).toBeLessThanOrEqual(bounds.maxSurge);
  }
}

/** Performs the plan; node agents remove deleted pods and make all others ready. */
function advance(state: DaemonState, plan: DaemonPlan): DaemonState {
  const changed = state.nodes.map((node): DaemonNode => {
    const isFailed = (one: Pod) => one.status?.phase === 'Failed';
    const left = staying(node)
      .filter((one) => !plan.deletions.includes(one))
      .map((one) => (isFailed(one) || !one.spec?.nodeName ? one : ready(one)));
    const bound = left.map((one) => ({ ...one, spec: { ...one.spec!, nodeName: node.name } }));
    const added = plan.creations.filter((name) => name === node.name);
    return {
      ...node,
      pods: [...(node.exists ? bound : left), ...added.map((name) => newPod(name, false))],
    };
  });
  return { ...state, nodes: changed };
}

function ready(one: Pod): Pod {
  const conditions = [{ type: 'Ready', status: 'True' }];
  return { ...one, status: { ...one.status, phase: 'Running', conditions } };
}

describe('planPods', () => {
  it(
    'creates a pod only on an empty fitting node and deletes only surplus pods',
    () => {
      const property = fc.property(states, ([state]) => {
        const { creations, deletions } = planPods(state);
        expect(new Set(creations).size).toBe(creations.length);
        expect(new Set(deletions).size).toBe(deletions.length);
        for (const node of state.nodes) {
          const left = staying(node).filter((one) => !deletions.includes(one));
          const isCreated = creations.includes(node.name);
          expect(isCreated).toBe(node.shouldRun && node.pods.length === 0);
          if (!node.exists) expect(left.every(({ spec }) => spec?.nodeName)).toBe(true);
          else if (!node.mayStay) expect(left).toEqual([]);
          else if (state.isSurging) {
            expect(left.filter(isUpdated).length).toBeLessThanOrEqual(1);
            expect(left.length).toBeLessThanOrEqual(2);
          } else expect(left.length).toBeLessThanOrEqual(1);
          const hasRunning = staying(node).some(({ status }) => status?.phase !== 'Failed');
          if (node.mayStay && hasRunning) expect(left.length).toBeGreaterThan(0);
        }
      });
      fc.assert(property, { numRuns: stateCount });
    },
    stateTimeoutMs,
  );

  it('leaves a failed pod while its node is backed off, and says when to look again', () => {
    const failed = podOf('a', true, {
      phase: 'Failed',
      isReady: false,
      isDeleted: false,
      isNew: true,
      created: 0,
    });
    const node = { name: 'a', exists: true, shouldRun: true, mayStay: true, pods: [failed] };
    expect(planPods(stateOf([node])).failed).toEqual([{ nodeName: 'a', pod: failed }]);
    const plan = planPods({ ...stateOf([node]), failureDelayMs: () => 4_000 });
    expect([plan.deletions, plan.requeueAfterMs]).toEqual([[], 4_000]);
  });
});

describe('planUpdate', () => {
  it(
    'makes no more nodes unavailable than allowed and surges within its bound',
    () => {
      const property = fc.property(states, ([state, bounds]) => {
        checkUpdate(state, bounds, planUpdate(state, bounds));
      });
      fc.assert(property, { numRuns: stateCount });
    },
    stateTimeoutMs,
  );

  it(
    'reaches one updated pod on every fitting node, within the bounds',
    () => {
      const property = fc.property(states, ([start, bounds]) => {
        let state = start;
        for (let round = 0; round < 60; round++) {
          const plan = planOf(state, bounds);
          if (plan.failed.length === 0 && plan.creations.length + plan.deletions.length > 0) {
            const isUpdate = planPods(state).deletions.length === 0;
            if (isUpdate && planPods(state).creations.length === 0)
              checkUpdate(state, bounds, plan);
          }
          state = advance(state, plan);
        }
        for (const node of state.nodes.filter(({ exists }) => exists)) {
          if (node.shouldRun) expect(node.pods.length).toBe(1);
          if (node.shouldRun) expect(node.pods.every(isUpdated)).toBe(true);
          if (!node.mayStay) expect(node.pods).toEqual([]);
        }
      });
      fc.assert(property, { numRuns: Math.ceil(stateCount / 10) });
    },
    stateTimeoutMs,
  );
});
