/**
 * Scales a deployment, outside of a rollout step or in the middle of one. Pure. A single active
 * replica set is resized. Several share the change in proportion to their sizes, so that a stuck
 * rollout retains its ratio of old and new pods.
 */
import type { Deployment, ReplicaSet } from '@orch/types/apps/v1';
import { desiredReplicasOf, maxReplicasOf } from './annotations.js';
import { boundsOf, isRolling, wantedReplicas } from './bounds.js';
import {
  allOf,
  availableOf,
  olderFirst,
  type Resize,
  type Rollout,
  sizeOf,
  sum,
} from './rollout.js';

/** Whether the wanted number has changed since the replica sets were last sized. */
export function isScalingEvent(rollout: Rollout): boolean {
  const wanted = wantedReplicas(rollout.deployment);
  return allOf(rollout).some((replicaSet) => {
    const noted = desiredReplicasOf(replicaSet);
    return sizeOf(replicaSet) > 0 && noted !== undefined && noted !== wanted;
  });
}

export function scalingStep(rollout: Rollout): Resize[] {
  const { deployment, current, old } = rollout;
  const wanted = wantedReplicas(deployment);
  const only = activeOrLatest(rollout);
  if (only) return sizeOf(only) === wanted ? [] : [{ replicaSet: only, replicas: wanted }];
  if (isSaturated(deployment, current)) {
    return old.filter((one) => sizeOf(one) > 0).map((replicaSet) => ({ replicaSet, replicas: 0 }));
  }
  return isRolling(deployment) ? shares(rollout) : [];
}

/** The one to scale when at most one has pods. */
function activeOrLatest(rollout: Rollout): ReplicaSet | undefined {
  const active = allOf(rollout).filter((one) => sizeOf(one) > 0);
  if (active.length > 1) return undefined;
  return active[0] ?? rollout.current ?? rollout.old.at(-1);
}

function isSaturated(deployment: Deployment, current: ReplicaSet | undefined): boolean {
  if (!current) return false;
  const wanted = wantedReplicas(deployment);
  return (
    sizeOf(current) === wanted &&
    desiredReplicasOf(current) === wanted &&
    availableOf(current) === wanted
  );
}

function shares(rollout: Rollout): Resize[] {
  const { deployment } = rollout;
  const wanted = wantedReplicas(deployment);
  const active = allOf(rollout).filter((one) => sizeOf(one) > 0);
  const allowed = wanted > 0 ? wanted + boundsOf(deployment).maxSurge : 0;
  const toAdd = allowed - sum(active, sizeOf);
  // The largest take the rest; among equals the newest when growing, the oldest when shrinking.
  const order = toAdd > 0 ? -1 : 1;
  active.sort((a, b) => sizeOf(b) - sizeOf(a) || order * olderFirst(a, b));
  let added = 0;
  const resizes = active.map((replicaSet) => {
    const share = shareOf(replicaSet, deployment, toAdd, added);
    added += share;
    return { replicaSet, replicas: sizeOf(replicaSet) + share };
  });
  const [first, ...rest] = resizes;
  if (!first || toAdd === 0) return resizes;
  return [{ ...first, replicas: Math.max(0, first.replicas + toAdd - added) }, ...rest];
}

/** The part of `toAdd` that falls to the replica set; `added` is given out already. */
function shareOf(
  replicaSet: ReplicaSet,
  deployment: Deployment,
  toAdd: number,
  added: number,
): number {
  const size = sizeOf(replicaSet);
  if (size === 0 || toAdd === 0 || toAdd === added) return 0;
  const share = wantedReplicas(deployment) === 0 ? -size : growth(replicaSet, deployment);
  const allowed = toAdd - added;
  return toAdd > 0 ? Math.min(share, allowed) : Math.max(share, allowed);
}

function growth(replicaSet: ReplicaSet, deployment: Deployment): number {
  const total = wantedReplicas(deployment) + boundsOf(deployment).maxSurge;
  const before = maxReplicasOf(replicaSet) ?? deployment.status?.replicas ?? 0;
  const size = sizeOf(replicaSet);
  return before === 0 ? 0 : Math.round((size * total) / before) - size;
}
