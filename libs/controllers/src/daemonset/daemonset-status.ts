/** The status of a daemon set. Pure. */
import type { DaemonSet, DaemonSetStatus } from '@orch/types/apps/v1';
import { isPodAvailable, isPodReady } from '../common/pods.js';
import { olderFirst } from './daemon-pod.js';
import type { DaemonState } from './daemonset-plan.js';

/**
 * Counts each node by its oldest pod.
 *
 * @param observedGeneration the generation of the last plan.
 */
export function daemonSetStatus(
  set: DaemonSet,
  { nodes, isUpdated, minReadySeconds, nowMs }: DaemonState,
  collisionCount: number,
  observedGeneration: number,
): DaemonSetStatus {
  const counts = {
    desiredNumberScheduled: 0,
    currentNumberScheduled: 0,
    numberMisscheduled: 0,
    numberReady: 0,
    updatedNumberScheduled: 0,
    numberAvailable: 0,
  };
  for (const { exists, shouldRun, pods } of nodes) {
    if (!exists) continue;
    const pod = [...pods].sort(olderFirst)[0];
    if (!shouldRun) {
      counts.numberMisscheduled += Number(pod !== undefined);
      continue;
    }
    counts.desiredNumberScheduled += 1;
    if (!pod) continue;
    counts.currentNumberScheduled += 1;
    counts.numberReady += Number(isPodReady(pod));
    counts.numberAvailable += Number(isPodAvailable(pod, minReadySeconds, nowMs));
    counts.updatedNumberScheduled += Number(isUpdated(pod));
  }
  return {
    ...set.status,
    ...counts,
    numberUnavailable: counts.desiredNumberScheduled - counts.numberAvailable,
    observedGeneration,
    ...(collisionCount > 0 ? { collisionCount } : {}),
  };
}

const fields = [
  ...(['desiredNumberScheduled', 'currentNumberScheduled', 'numberMisscheduled'] as const),
  ...(['numberReady', 'updatedNumberScheduled', 'numberAvailable'] as const),
  ...(['numberUnavailable', 'observedGeneration', 'collisionCount'] as const),
] as const;

/** Whether two statuses are equal; an absent count is zero. */
export function sameStatus(a: DaemonSetStatus | undefined, b: DaemonSetStatus): boolean {
  return fields.every((name) => (a?.[name] ?? 0) === (b[name] ?? 0));
}
