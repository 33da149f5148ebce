/** The status of a stateful set. Pure. */
import type { StatefulSet, StatefulSetStatus } from '@orch/types/apps/v1';
import type { Pod } from '@orch/types/core/v1';
import { revisionOfPod } from './stateful-pod.js';
import { isRunningAndReady, isTerminating, type StatefulSetState } from './statefulset-plan.js';

/** What the steps of a reconciliation changed. */
export interface Progress {
  readonly created: readonly Pod[];
  readonly deleted: readonly Pod[];
}

export function statefulSetStatus(
  state: StatefulSetState,
  { created, deleted }: Progress,
  collisionCount: number,
): StatefulSetStatus {
  const { set, currentRevision, updateRevision } = state;
  const pods = [...state.pods, ...created];
  const staying = pods.filter((pod) => !isTerminating(pod) && !deleted.includes(pod));
  const count = (revision: string) =>
    staying.filter((pod) => revisionOfPod(pod) === revision).length;
  const status: StatefulSetStatus = {
    ...set.status,
    observedGeneration: set.metadata?.generation ?? 0,
    replicas: pods.length,
    readyReplicas: pods.filter(isRunningAndReady).length,
    currentReplicas: count(currentRevision),
    updatedReplicas: count(updateRevision),
    currentRevision,
    updateRevision,
    collisionCount,
  };
  return isUpdateComplete(set, status)
    ? { ...status, currentReplicas: status.updatedReplicas, currentRevision: updateRevision }
    : status;
}

/** With OnDelete, the revision before the update stays the current one. */
function isUpdateComplete({ spec }: StatefulSet, status: StatefulSetStatus): boolean {
  return (
    spec?.updateStrategy?.type !== 'OnDelete' &&
    status.updatedReplicas === status.replicas &&
    status.readyReplicas === status.replicas
  );
}

const fields = [
  ...(['observedGeneration', 'replicas', 'readyReplicas', 'currentReplicas'] as const),
  ...(['updatedReplicas', 'collisionCount'] as const),
] as const;

/** Whether two statuses are equal; an absent count is zero. */
export function sameStatus(a: StatefulSetStatus | undefined, b: StatefulSetStatus): boolean {
  return (
    a?.collisionCount !== undefined &&
    fields.every((name) => (a[name] ?? 0) === (b[name] ?? 0)) &&
    a.currentRevision === b.currentRevision &&
    a.updateRevision === b.updateRevision
  );
}
