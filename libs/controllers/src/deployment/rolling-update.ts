/**
 * One step of a rolling update. Pure. Never more pods than wanted plus surge, and never fewer
 * available ones than wanted less what may be missing: the new replica set grows only into free
 * room, the old ones give up first what does not work and then what the others can spare.
 */
import type { ReplicaSet } from '@orch/types/apps/v1';
import { boundsOf, isRolling, wantedReplicas } from './bounds.js';
import { allOf, availableOf, type Resize, type Rollout, sizeOf, sum } from './rollout.js';

/** The sizes to change now; after they have taken effect there may be a next step. */
export function rollingStep(rollout: Rollout): Resize[] {
  const { current } = rollout;
  if (!current) return [];
  const replicas = newReplicaSetSize(rollout);
  if (replicas !== sizeOf(current)) return [{ replicaSet: current, replicas }];
  return shrinkOld(rollout);
}

/** Also the size with which a new replica set is made. */
export function newReplicaSetSize(rollout: Rollout): number {
  const wanted = wantedReplicas(rollout.deployment);
  const size = rollout.current ? sizeOf(rollout.current) : 0;
  if (size >= wanted || !isRolling(rollout.deployment)) return wanted;
  const room = wanted + boundsOf(rollout.deployment).maxSurge - sum(allOf(rollout), occupied);
  return room <= 0 ? size : size + Math.min(room, wanted - size);
}

/** Existing and planned pods: a pod that is being deleted counts until it is removed. */
function occupied(replicaSet: ReplicaSet): number {
  return Math.max(sizeOf(replicaSet), replicaSet.status?.replicas ?? 0);
}

/** Pods that will stay available: a status may still count some that are to go. */
function staying(replicaSet: ReplicaSet): number {
  return Math.min(sizeOf(replicaSet), availableOf(replicaSet));
}

function shrinkOld(rollout: Rollout): Resize[] {
  const { deployment, current, old } = rollout;
  const sizes = new Map(old.map((one) => [one, sizeOf(one)]));
  if (!current || sum([...sizes.values()], (size) => size) === 0) return [];
  const minAvailable = wantedReplicas(deployment) - boundsOf(deployment).maxUnavailable;
  const newUnavailable = sizeOf(current) - staying(current);
  const spare = sum(allOf(rollout), sizeOf) - minAvailable - newUnavailable;
  if (spare <= 0) return [];
  takeUnhealthy(sizes, spare);
  takeHealthy(sizes, sum(allOf(rollout), staying) - minAvailable);
  return [...sizes]
    .filter(([replicaSet, size]) => size !== sizeOf(replicaSet))
    .map(([replicaSet, replicas]) => ({ replicaSet, replicas }));
}

type Sizes = Map<Rollout['old'][number], number>;

function takeUnhealthy(sizes: Sizes, spare: number): void {
  let left = spare;
  for (const [replicaSet, size] of sizes) {
    const count = Math.min(left, Math.max(0, size - availableOf(replicaSet)));
    sizes.set(replicaSet, size - count);
    left -= count;
  }
}

function takeHealthy(sizes: Sizes, spare: number): void {
  let left = spare;
  for (const [replicaSet, size] of sizes) {
    if (left <= 0) return;
    const count = Math.min(left, size);
    sizes.set(replicaSet, size - count);
    left -= count;
  }
}
