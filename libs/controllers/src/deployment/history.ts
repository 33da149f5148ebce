/** Which old replica sets a finished rollout need not keep. Pure. */
import type { ReplicaSet } from '@orch/types/apps/v1';
import { revisionOf } from './annotations.js';
import { type Rollout, sizeOf } from './rollout.js';

const keepAll = 2 ** 31 - 1;

/** The oldest revisions beyond the limit that have no pods and are not in motion. */
export function expiredReplicaSets(rollout: Rollout): ReplicaSet[] {
  const limit = rollout.deployment.spec?.revisionHistoryLimit;
  if (limit === undefined || limit === keepAll) return [];
  const kept = rollout.old
    .filter((one) => !one.metadata?.deletionTimestamp)
    .sort((a, b) => revisionOf(a) - revisionOf(b));
  return kept.slice(0, Math.max(0, kept.length - limit)).filter(isIdle);
}

function isIdle(replicaSet: ReplicaSet): boolean {
  return (
    sizeOf(replicaSet) === 0 &&
    (replicaSet.status?.replicas ?? 0) === 0 &&
    (replicaSet.metadata?.generation ?? 0) <= (replicaSet.status?.observedGeneration ?? 0)
  );
}
