/** One step of a recreation: everything old goes before anything new comes. Pure. */
import type { Pod } from '@orch/types/core/v1';
import { isPodFinished } from '../common/pods.js';
import { wantedReplicas } from './bounds.js';
import { type Resize, type Rollout, sizeOf, sum } from './rollout.js';

/**
 * @param oldPods pods of the old replica sets.
 * @returns the sizes to change now, and whether the new replica set may be created and scaled up.
 */
export function recreateStep(
  rollout: Rollout,
  oldPods: readonly Pod[],
): { resizes: Resize[]; mayCreate: boolean } {
  const { deployment, current, old } = rollout;
  const shrinking = old.filter((one) => sizeOf(one) > 0);
  if (shrinking.length > 0) {
    const resizes = shrinking.map((replicaSet) => ({ replicaSet, replicas: 0 }));
    return { resizes, mayCreate: false };
  }
  const isOldLeft =
    sum(old, (one) => one.status?.replicas ?? 0) > 0 || oldPods.some((pod) => !isPodFinished(pod));
  if (isOldLeft) return { resizes: [], mayCreate: false };
  const replicas = wantedReplicas(deployment);
  const isGrowing = current !== undefined && sizeOf(current) !== replicas;
  return { resizes: isGrowing ? [{ replicaSet: current, replicas }] : [], mayCreate: true };
}
