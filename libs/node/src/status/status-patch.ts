/** The change that brings a pod's status in the API to what the agent sees. Pure. */
import { conditionOf, deepEqual } from '@orch/apimachinery';
import type { Pod, PodCondition, PodStatus } from '@orch/types/core/v1';

/** Fields of the status that are the agent's; null is written where one has to go. */
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

/** A strategic merge patch bound to the pod's uid; undefined if there is nothing to change. */
export function statusPatch(pod: Pod, wanted: PodStatus): object | undefined {
  const current = pod.status ?? {};
  const status: Record<string, unknown> = {};
  for (const field of ownFields) {
    const [is, shouldBe] = [current[field], wanted[field]];
    if (same(is, shouldBe)) continue;
    status[field] = shouldBe ?? null;
  }
  // Merged by address otherwise: the one of an earlier sandbox would stay. Where there is no list yet, a
  // server takes the directive for an entry.
  if (Array.isArray(status.podIPs) && current.podIPs?.length) {
    status.podIPs = [...status.podIPs, { $patch: 'replace' }];
  }
  const conditions = (wanted.conditions ?? []).flatMap((next) => {
    const before = conditionOf(current.conditions, next.type);
    return same(before, next) ? [] : [withoutLeftovers(next, before)];
  });
  if (conditions.length > 0) status.conditions = conditions;
  if (Object.keys(status).length === 0) return undefined;
  return { metadata: { uid: pod.metadata?.uid }, status };
}

/** A condition merges field by field: what it no longer says is taken out. */
function withoutLeftovers(next: PodCondition, before: PodCondition | undefined): object {
  const gone = (['reason', 'message'] as const).filter(
    (field) => before?.[field] !== undefined && next[field] === undefined,
  );
  return { ...next, ...Object.fromEntries(gone.map((field) => [field, null])) };
}

function same(left: unknown, right: unknown): boolean {
  return deepEqual(plain(left), plain(right));
}

/** As it would come back: without undefined members, times of probes not being the agent's to keep. */
function plain(value: unknown): unknown {
  if (value === undefined) return null;
  return JSON.parse(
    JSON.stringify(value, (key, member: unknown) =>
      member === null && key === 'lastProbeTime' ? undefined : member,
    ),
  );
}
