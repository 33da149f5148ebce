/** What a pod's status says, as the controllers count it. Pure. */
import { conditionOf, parseTime } from '@orch/apimachinery';
import type { Pod, PodCondition } from '@orch/types/core/v1';

/** Counts as a replica: neither finished nor being deleted. */
export function isPodActive(pod: Pod): boolean {
  return !isPodFinished(pod) && !pod.metadata?.deletionTimestamp;
}

export function isPodFinished(pod: Pod): boolean {
  return pod.status?.phase === 'Succeeded' || pod.status?.phase === 'Failed';
}

export function readyCondition(pod: Pod): PodCondition | undefined {
  return conditionOf(pod.status?.conditions, 'Ready');
}

export function isPodReady(pod: Pod): boolean {
  return readyCondition(pod)?.status === 'True';
}

/** Ready for at least `minReadySeconds`. */
export function isPodAvailable(pod: Pod, minReadySeconds: number, nowMs: number): boolean {
  const ready = readyCondition(pod);
  if (ready?.status !== 'True') return false;
  if (minReadySeconds === 0) return true;
  const sinceMs = parseTime(ready.lastTransitionTime);
  return sinceMs !== undefined && sinceMs + minReadySeconds * 1000 <= nowMs;
}

export function restartCountMax(pod: Pod): number {
  return Math.max(0, ...(pod.status?.containerStatuses ?? []).map((one) => one.restartCount ?? 0));
}

/**
 * When a pod that became ready becomes available; undefined if it did not or is available
 * immediately.
 */
export function availableAfterMs(
  minReadySeconds: number | undefined,
  pod: Pod,
  old: Pod,
): number | undefined {
  if (!minReadySeconds || !isPodReady(pod) || isPodReady(old)) return undefined;
  // Times in a status are whole seconds: one more, so that the pod is available by then.
  return (minReadySeconds + 1) * 1000;
}
