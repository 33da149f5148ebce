/**
 * Plans a replica set or replication controller: the number of pods to create, the pods to delete,
 * and the status. Pure: the owner, its active pods and the time go in.
 */

import { conditionOf, deepEqual, formatTime } from '@orch/apimachinery';
import type { ApiObject } from '@orch/client';
import type { ReplicaSetCondition, ReplicaSetStatus } from '@orch/types/apps/v1';
import type { Pod, PodTemplateSpec } from '@orch/types/core/v1';
import { withoutCondition } from '../common/conditions.js';
import { type DeletionRules, podsToDelete } from '../common/deletion-order.js';
import { isPodActive, isPodAvailable, isPodReady, readyCondition } from '../common/pods.js';
import { limits } from '../limits.js';

/** A replica set or replication controller. */
export interface ReplicaOwner extends ApiObject {
  readonly spec?: {
    readonly replicas?: number;
    readonly minReadySeconds?: number;
    readonly template?: PodTemplateSpec;
  };
  readonly status?: ReplicaSetStatus;
}

export interface ReplicaPlan {
  readonly createCount: number;
  readonly deletions: readonly Pod[];
}

/** @param related returns the pods of all replica sets with the same owner, for ranking. */
export function planReplicas(
  owner: ReplicaOwner,
  activePods: readonly Pod[],
  related: () => readonly Pod[],
  rules: DeletionRules,
): ReplicaPlan {
  const surplus = activePods.length - (owner.spec?.replicas ?? 1);
  if (surplus < 0) {
    return { createCount: Math.min(-surplus, limits.replicaBurstMax), deletions: [] };
  }
  const count = Math.min(surplus, limits.replicaBurstMax);
  return {
    createCount: 0,
    deletions: count > 0 ? podsToDelete(activePods, related(), count, rules) : [],
  };
}

/**
 * Whether a change of a pod may change the plan or status of its replica set. Most changes, such as
 * the binding to a node, do not: a set of many pods is not reconciled for each of them.
 */
export function concernsReplicas(pod: Pod, old: Pod): boolean {
  const [ready, oldReady] = [readyCondition(pod), readyCondition(old)];
  return (
    pod.metadata?.uid !== old.metadata?.uid ||
    ready?.status !== oldReady?.status ||
    ready?.lastTransitionTime !== oldReady?.lastTransitionTime ||
    isPodActive(pod) !== isPodActive(old) ||
    !deepEqual(pod.metadata?.labels, old.metadata?.labels) ||
    !deepEqual(pod.metadata?.ownerReferences, old.metadata?.ownerReferences)
  );
}

/** What went wrong while carrying a plan out. */
export interface ReplicaFailure {
  readonly reason: 'FailedCreate' | 'FailedDelete';
  readonly message: string;
}

export function replicaSetStatus(
  owner: ReplicaOwner,
  activePods: readonly Pod[],
  failure: ReplicaFailure | undefined,
  nowMs: number,
): ReplicaSetStatus {
  const minReadySeconds = owner.spec?.minReadySeconds ?? 0;
  const templateLabels = Object.entries(owner.spec?.template?.metadata?.labels ?? {});
  let [labelledCount, readyCount, availableCount] = [0, 0, 0];
  for (const pod of activePods) {
    if (hasLabels(pod, templateLabels)) labelledCount++;
    if (isPodReady(pod)) readyCount++;
    if (isPodAvailable(pod, minReadySeconds, nowMs)) availableCount++;
  }
  return {
    ...owner.status,
    replicas: activePods.length,
    fullyLabeledReplicas: labelledCount,
    readyReplicas: readyCount,
    availableReplicas: availableCount,
    observedGeneration: owner.metadata?.generation ?? 0,
    conditions: failureConditions(owner.status?.conditions ?? [], failure, nowMs),
  };
}

function hasLabels({ metadata }: Pod, labels: readonly (readonly [string, string])[]): boolean {
  for (const [key, value] of labels) if (metadata?.labels?.[key] !== value) return false;
  return true;
}

/** A failure stays as it was first noted until a sync goes well. */
function failureConditions(
  conditions: readonly ReplicaSetCondition[],
  failure: ReplicaFailure | undefined,
  nowMs: number,
): ReplicaSetCondition[] {
  const others = withoutCondition(conditions, 'ReplicaFailure');
  if (!failure) return others;
  const existing = conditionOf(conditions, 'ReplicaFailure');
  return [
    ...others,
    existing ?? {
      type: 'ReplicaFailure',
      status: 'True',
      lastTransitionTime: formatTime(nowMs),
      reason: failure.reason,
      message: failure.message,
    },
  ];
}

const counts = [
  'replicas',
  'fullyLabeledReplicas',
  'readyReplicas',
  'availableReplicas',
  'observedGeneration',
] as const;

/** Whether two statuses say the same; an absent count is zero. */
export function sameStatus(a: ReplicaSetStatus | undefined, b: ReplicaSetStatus): boolean {
  return (
    counts.every((name) => (a?.[name] ?? 0) === (b[name] ?? 0)) &&
    deepEqual(a?.conditions ?? [], b.conditions ?? [])
  );
}
