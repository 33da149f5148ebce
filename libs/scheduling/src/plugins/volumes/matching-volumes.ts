/** Finds existing volumes for claims. */
import {
  claimRequest,
  hasAccessModes,
  hasVolumeMode,
  isReachable,
  isReservedFor,
  storageClassName,
  volumeCapacity,
} from '@orch/apimachinery';
import type {
  PersistentVolume,
  PersistentVolumeClaim,
  TopologySelectorTerm,
} from '@orch/types/core/v1';
import type { NodeInfo } from '../../model/node-info.js';
import { labelPredicate } from '../../model/selectors.js';

/**
 * Returns the volume that is reserved for the claim, otherwise the smallest available one that fits
 * and that the node reaches.
 */
export function findVolume(
  claim: PersistentVolumeClaim,
  volumes: readonly PersistentVolume[],
  node: NodeInfo,
  taken: ReadonlySet<string>,
): PersistentVolume | undefined {
  const requested = claimRequest(claim);
  const matchesSelector = claim.spec?.selector ? labelPredicate(claim.spec.selector) : () => true;
  let smallest: { volume: PersistentVolume; size: bigint } | undefined;
  for (const volume of volumes) {
    if (taken.has(volume.metadata?.name ?? '')) continue;
    const isReserved = isReservedFor(volume, claim);
    if (volume.spec?.claimRef && !isReserved) continue;
    const size = volumeCapacity(volume);
    if (size < requested || !hasVolumeMode(volume, claim)) continue;
    if (volume.metadata?.deletionTimestamp) continue;
    if (isReserved) return isReachable(volume, node) ? volume : undefined;
    if (volume.status?.phase !== 'Available') continue;
    if (!matchesSelector(volume.metadata?.labels ?? {})) continue;
    if (storageClassName(volume) !== storageClassName(claim)) continue;
    if (!hasAccessModes(volume, claim) || !isReachable(volume, node)) continue;
    if (!smallest || size < smallest.size) smallest = { volume, size };
  }
  return smallest?.volume;
}

/** Whether a class allows volumes on the node; without terms everywhere. */
export function allowsTopology(terms: readonly TopologySelectorTerm[], node: NodeInfo): boolean {
  if (terms.length === 0) return true;
  return terms.some(({ matchLabelExpressions = [] }) =>
    matchLabelExpressions.every(({ key, values = [] }) => {
      const label = node.labels[key];
      return label !== undefined && values.includes(label);
    }),
  );
}
