/** Computes the patch from a pod's status in the API to the status of the agent. Pure. */
import { conditionOf, deepEqual } from '@orch/apimachinery';
import type { Pod, PodCondition, PodStatus } from '@orch/types/core/v1';

/** The status fields that the agent owns; null in the patch removes a field. */
const ownFields = [
  'phase',
  'message',
  'reason',
  'hostIP',
  'podIP',
  'podIPs',
  'startTime',
  'initContainerStatuses',
  'containerStatuses',
  'ephemeralContainerStatuses',
] as const satisfies readonly (keyof PodStatus)[];

/** Returns a strategic merge patch with the pod's uid; undefined if nothing changes. */
export function statusPatch(pod: Pod, wanted: PodStatus): object | undefined {
  const current = pod.status ?? {};
  const status: Record<string, unknown> = {};
  for (const field of ownFields) {
    if (isSame(current[field], wanted[field])) continue;
    status[field] = wanted[field] ?? null;
  }
  // Without the directive the list merges by address and retains the address of an earlier sandbox.
  // If there is no list yet, the server would store the directive as an entry.
  if (Array.isArray(status.podIPs) && current.podIPs?.length) {
    status.podIPs = [...status.podIPs, { $patch: 'replace' }];
  }
  const conditions = (wanted.conditions ?? []).flatMap((next) => {
    const before = conditionOf(current.conditions, next.type);
    return isSame(before, next) ? [] : [withRemovals(next, before)];
  });
  if (conditions.length > 0) status.conditions = conditions;
  if (Object.keys(status).length === 0) return undefined;
  return { metadata: { uid: pod.metadata?.uid }, status };
}

/** Conditions merge by field, so removed fields are set to null. */
function withRemovals(next: PodCondition, before: PodCondition | undefined): object {
  const removed = (['reason', 'message'] as const).filter(
    (field) => before?.[field] !== undefined && next[field] === undefined,
  );
  return { ...next, ...Object.fromEntries(removed.map((field) => [field, null])) };
}

function isSame(left: unknown, right: unknown): boolean {
  return deepEqual(plain(left), plain(right));
}

/**
 * Returns the value as the API would return it, without undefined members and without null probe
 * times.
 */
function plain(value: unknown): unknown {
  if (value === undefined) return null;
  return JSON.parse(
    JSON.stringify(value, (key, member: unknown) =>
      member === null && key === 'lastProbeTime' ? undefined : member,
    ),
  );
}
