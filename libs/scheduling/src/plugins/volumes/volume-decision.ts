/**
 * Decides for one node which volumes the claims of a pod get there: bound ones must be reachable,
 * others are bound to existing volumes or provisioned.
 */
import {
  claimRequest,
  isReachable,
  noProvisioner,
  Quantity,
  selectedNodeKey,
  storageClassName,
} from '@orch/apimachinery';
import type { PersistentVolume, PersistentVolumeClaim } from '@orch/types/core/v1';
import type { StorageClass } from '@orch/types/storage/v1';
import { finalRejection, type Rejection } from '../../framework/plugin.js';
import type { ClusterObjects } from '../../model/cluster-objects.js';
import type { NodeInfo } from '../../model/node-info.js';
import { labelPredicate } from '../../model/selectors.js';
import { allowsTopology, findVolume } from './matching-volumes.js';

const conflict = 'node(s) had volume node affinity conflict';
const noneAvailable = "node(s) didn't find available persistent volumes to bind";
const noSpace = 'node(s) did not have enough free storage';
const missingVolume = 'pvc(s) bound to non-existent pv(s)';

/** The claims of a pod. */
export interface PodClaims {
  readonly bound: readonly PersistentVolumeClaim[];
  /** Not bound, and to be bound with the pod. The smallest first. */
  readonly waiting: readonly PersistentVolumeClaim[];
}

export interface StaticBinding {
  readonly claim: PersistentVolumeClaim;
  readonly volume: PersistentVolume;
}

/** What to do for the claims that wait. */
export interface VolumeDecision {
  readonly bindings: readonly StaticBinding[];
  readonly provisions: readonly PersistentVolumeClaim[];
}

export function decideVolumes(
  claims: PodClaims,
  node: NodeInfo,
  objects: ClusterObjects,
): VolumeDecision | Rejection {
  const reasons: string[] = [];
  const boundProblem = checkBound(claims.bound, node, objects);
  const waiting = decideWaiting(claims.waiting, node, objects);
  if (boundProblem === conflict) reasons.push(conflict);
  if (typeof waiting === 'string') reasons.push(waiting);
  if (boundProblem === missingVolume) reasons.push(missingVolume);
  if (reasons.length > 0) return finalRejection(...reasons);
  return waiting as VolumeDecision;
}

function checkBound(
  claims: readonly PersistentVolumeClaim[],
  node: NodeInfo,
  objects: ClusterObjects,
): string | undefined {
  for (const claim of claims) {
    const volume = objects.volume(claim.spec?.volumeName ?? '');
    if (!volume) return missingVolume;
    if (!isReachable(volume, node)) return conflict;
  }
  return undefined;
}

/** Returns the reason if the node is not feasible. */
function decideWaiting(
  claims: readonly PersistentVolumeClaim[],
  node: NodeInfo,
  objects: ClusterObjects,
): VolumeDecision | string {
  const bindings: StaticBinding[] = [];
  const provisions: PersistentVolumeClaim[] = [];
  const taken = new Set<string>();
  for (const claim of claims) {
    // The provisioner works for the node that was selected before.
    const selected = claim.metadata?.annotations?.[selectedNodeKey()];
    if (selected !== undefined && selected !== node.name) return noneAvailable;
    const volume =
      selected === undefined
        ? findVolume(claim, objects.volumesOfClass(storageClassName(claim)), node, taken)
        : undefined;
    if (volume) {
      taken.add(volume.metadata?.name ?? '');
      bindings.push({ claim, volume });
    } else provisions.push(claim);
  }
  for (const claim of provisions) {
    const problem = checkProvisioning(claim, node, objects);
    if (problem) return problem;
  }
  return { bindings, provisions };
}

function checkProvisioning(
  claim: PersistentVolumeClaim,
  node: NodeInfo,
  objects: ClusterObjects,
): string | undefined {
  const storageClass = objects.storageClass(storageClassName(claim));
  const provisioner = storageClass?.provisioner ?? '';
  if (!storageClass || provisioner === '' || provisioner === noProvisioner()) return noneAvailable;
  if (!allowsTopology(storageClass.allowedTopologies ?? [], node)) return noneAvailable;
  return hasCapacity(claim, storageClass, node, objects) ? undefined : noSpace;
}

/** Drivers that do not publish their capacity are assumed to have enough. */
function hasCapacity(
  claim: PersistentVolumeClaim,
  storageClass: StorageClass,
  node: NodeInfo,
  objects: ClusterObjects,
): boolean {
  if (!objects.csiDriver(storageClass.provisioner)?.spec?.storageCapacity) return true;
  const requested = claimRequest(claim);
  return objects.storageCapacities().some((capacity) => {
    if (capacity.storageClassName !== storageClass.metadata?.name) return false;
    const limit = capacity.maximumVolumeSize ?? capacity.capacity;
    if (limit === undefined || Quantity.parse(limit).units() < requested) return false;
    return capacity.nodeTopology ? labelPredicate(capacity.nodeTopology)(node.labels) : false;
  });
}
