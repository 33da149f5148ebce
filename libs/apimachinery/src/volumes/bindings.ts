/** Classes, sizes and bindings of claims and volumes, and whether a volume suits a claim. Pure. */
import type { PersistentVolume, PersistentVolumeClaim } from '@orch/types/core/v1';
import { Quantity } from '../quantity/quantity.js';
import { nodeSelectorPredicate, type SelectableNode } from '../selectors/node-selector.js';
import { bindCompletedKey, storageClassKey } from './storage-keys.js';

/** Returns the class of a claim or volume; '' if it has none. */
export function storageClassName({
  metadata,
  spec,
}: PersistentVolumeClaim | PersistentVolume): string {
  return metadata?.annotations?.[storageClassKey()] ?? spec?.storageClassName ?? '';
}

/** Returns the requested bytes. */
export function claimRequest({ spec }: PersistentVolumeClaim): bigint {
  return Quantity.parse(spec?.resources?.requests?.storage ?? '0').units();
}

/** Returns the size in bytes. */
export function volumeCapacity({ spec }: PersistentVolume): bigint {
  return Quantity.parse(spec?.capacity?.storage ?? '0').units();
}

/** Whether the volume binder has completed the binding. */
export function isClaimBound({ metadata, spec }: PersistentVolumeClaim): boolean {
  return Boolean(spec?.volumeName) && metadata?.annotations?.[bindCompletedKey()] !== undefined;
}

/** Whether the volume is bound to the claim or reserved for it. */
export function isReservedFor(
  { spec }: PersistentVolume,
  { metadata }: PersistentVolumeClaim,
): boolean {
  const reference = spec?.claimRef;
  if (!reference) return false;
  if (reference.name !== metadata?.name || reference.namespace !== metadata?.namespace) {
    return false;
  }
  return !reference.uid || reference.uid === metadata?.uid;
}

/** Whether pods on the node can use the volume. */
export function isReachable({ spec }: PersistentVolume, node: SelectableNode): boolean {
  const required = spec?.nodeAffinity?.required;
  return !required || nodeSelectorPredicate(required)(node);
}

export function hasVolumeMode(volume: PersistentVolume, claim: PersistentVolumeClaim): boolean {
  return (volume.spec?.volumeMode ?? 'Filesystem') === (claim.spec?.volumeMode ?? 'Filesystem');
}

/** Whether the volume offers every access mode that the claim requests. */
export function hasAccessModes(volume: PersistentVolume, claim: PersistentVolumeClaim): boolean {
  const modes = volume.spec?.accessModes ?? [];
  return (claim.spec?.accessModes ?? []).every((mode) => modes.includes(mode));
}
