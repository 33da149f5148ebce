/**
 * Plans the next steps of a stateful set. Pure: the set, its revisions and its pods go in.
 *
 * With the policy OrderedReady there is at most one step at a time, and none while a pod of a lower
 * ordinal is not running and ready. With Parallel, pods are created and removed together; updates
 * are one at a time under both policies.
 */
import type { StatefulSet } from '@orch/types/apps/v1';
import type { Pod } from '@orch/types/core/v1';
import { isPodReady } from '../common/pods.js';
import { limits } from '../limits.js';
import { hasIdentity, ordinalOf, revisionOfPod } from './stateful-pod.js';

export interface StatefulSetState {
  readonly set: StatefulSet;
  /** Names of the revisions before and after the update. */
  readonly currentRevision: string;
  readonly updateRevision: string;
  /** The pods that the set controls. */
  readonly pods: readonly Pod[];
}

export type Step =
  | { readonly type: 'create'; readonly ordinal: number; readonly revision: string }
  /** Restores the label and the volumes of the pod. */
  | { readonly type: 'repair'; readonly ordinal: number; readonly pod: Pod }
  /** Deletes a failed pod; its ordinal is created again when it has disappeared. */
  | { readonly type: 'replace'; readonly pod: Pod }
  | { readonly type: 'delete'; readonly pod: Pod };

/** The pods by ordinal: the wanted and the surplus ones. */
interface Ranks {
  /** Ordinals below it are wanted. */
  readonly count: number;
  readonly replicas: ReadonlyMap<number, Pod>;
  /** Highest ordinal first. */
  readonly surplus: readonly Pod[];
}

export function planStatefulSet(state: StatefulSetState): Step[] {
  if (state.set.metadata?.deletionTimestamp) return [];
  const ranks = ranksOf(state);
  const isOrdered = state.set.spec?.podManagementPolicy !== 'Parallel';
  return isOrdered ? orderedSteps(state, ranks) : parallelSteps(state, ranks);
}

export function replicaCountOf(set: StatefulSet): number {
  return set.spec?.replicas ?? 1;
}

/** The first ordinal that updates reach. */
export function partitionOf({ spec }: StatefulSet): number {
  return spec?.updateStrategy?.rollingUpdate?.partition ?? 0;
}

export function isTerminating(pod: Pod): boolean {
  return Boolean(pod.metadata?.deletionTimestamp);
}

export function isRunningAndReady(pod: Pod): boolean {
  return pod.status?.phase === 'Running' && isPodReady(pod);
}

function isFailed(pod: Pod): boolean {
  return pod.status?.phase === 'Failed';
}

function isHealthy(pod: Pod | undefined): pod is Pod {
  return pod !== undefined && isRunningAndReady(pod) && !isTerminating(pod);
}

function ranksOf({ set, pods }: StatefulSetState): Ranks {
  const count = replicaCountOf(set);
  const replicas = new Map<number, Pod>();
  const surplus: [number, Pod][] = [];
  for (const pod of pods) {
    const ordinal = ordinalOf(set, pod);
    if (ordinal === undefined) continue;
    if (ordinal < count) replicas.set(ordinal, pod);
    else surplus.push([ordinal, pod]);
  }
  surplus.sort(([a], [b]) => b - a);
  return { count, replicas, surplus: surplus.map(([, pod]) => pod) };
}

/** At most one step. */
function orderedSteps(state: StatefulSetState, ranks: Ranks): Step[] {
  for (let ordinal = 0; ordinal < ranks.count; ordinal++) {
    const pod = ranks.replicas.get(ordinal);
    const step = replicaStep(state, ordinal, pod);
    if (step) return [step];
    if (!isHealthy(pod)) return [];
  }
  const { surplus } = ranks;
  const last = surplus[0];
  if (!last) return updateSteps(state, ranks);
  if (isTerminating(last)) return [];
  // All replicas are healthy here, so the unhealthy pod of the lowest ordinal is a surplus one.
  const firstUnhealthy = surplus.findLast((pod) => !isHealthy(pod));
  // A failed pod never recovers: waiting for it would block the scale-down permanently.
  const isRemovable = isRunningAndReady(last) || isFailed(last) || last === firstUnhealthy;
  return isRemovable ? [{ type: 'delete', pod: last }] : [];
}

function parallelSteps(state: StatefulSetState, ranks: Ranks): Step[] {
  const steps: Step[] = [];
  for (let ordinal = 0; ordinal < ranks.count; ordinal++) {
    if (steps.length >= limits.replicaBurstMax) break;
    const step = replicaStep(state, ordinal, ranks.replicas.get(ordinal));
    if (step) steps.push(step);
  }
  const deletions = ranks.surplus
    .filter((pod) => !isTerminating(pod))
    .slice(0, limits.replicaBurstMax)
    .map((pod): Step => ({ type: 'delete', pod }));
  const all = [...steps, ...deletions];
  return all.length > 0 ? all : updateSteps(state, ranks);
}

/** The step that an ordinal needs to have a pod of its identity. */
function replicaStep(
  state: StatefulSetState,
  ordinal: number,
  pod: Pod | undefined,
): Step | undefined {
  if (!pod) return { type: 'create', ordinal, revision: revisionFor(state, ordinal) };
  if (isTerminating(pod)) return undefined;
  if (isFailed(pod)) return { type: 'replace', pod };
  const isOrdered = state.set.spec?.podManagementPolicy !== 'Parallel';
  if (isOrdered && !isRunningAndReady(pod)) return undefined;
  return hasIdentity(state.set, ordinal, pod) ? undefined : { type: 'repair', ordinal, pod };
}

/** Ordinals below the partition stay at the revision before the update. */
function revisionFor(state: StatefulSetState, ordinal: number): string {
  const { set, currentRevision, updateRevision } = state;
  return isRolling(set) && ordinal < partitionOf(set) ? currentRevision : updateRevision;
}

function isRolling({ spec }: StatefulSet): boolean {
  return spec?.updateStrategy?.type !== 'OnDelete';
}

/** Deletes the highest old pod from the partition on, if all pods above it are healthy. */
function updateSteps(state: StatefulSetState, { count, replicas }: Ranks): Step[] {
  const { set, updateRevision } = state;
  if (!isRolling(set)) return [];
  for (let ordinal = count - 1; ordinal >= partitionOf(set); ordinal--) {
    const pod = replicas.get(ordinal);
    if (pod && revisionOfPod(pod) !== updateRevision && !isTerminating(pod)) {
      return [{ type: 'delete', pod }];
    }
    if (!isHealthy(pod)) return [];
  }
  return [];
}
