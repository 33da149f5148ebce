/** What a volume needs: a phase, its claim, or to be reclaimed. Pure. */
import { hasVolumeMode, provisionedByKey } from '@orch/apimachinery';
import type { PersistentVolume, PersistentVolumeClaim } from '@orch/types/core/v1';
import type { Notice } from './claim-plan.js';

export interface VolumeState {
  readonly volume: PersistentVolume;
  /** The claim of the volume; undefined if it does not exist, or has another uid. */
  readonly claim: PersistentVolumeClaim | undefined;
}

export type VolumeDecision =
  | { readonly act: 'mark'; readonly phase: 'Available' | 'Bound' }
  /** The claim decides next; the notice is about the volume and the claim. */
  | { readonly act: 'reconcile claim'; readonly notice?: Notice }
  /** The claim is bound to another volume. */
  | { readonly act: 'unbind' }
  /** Nothing uses the data any more. */
  | { readonly act: 'reclaim' };

export function planVolume({ volume, claim }: VolumeState): VolumeDecision {
  const reference = volume.spec?.claimRef;
  // A reservation without uid waits for a claim of the name.
  if (!reference?.uid) return { act: 'mark', phase: 'Available' };
  if (!claim) return { act: 'reclaim' };
  if (!claim.spec?.volumeName) {
    if (hasVolumeMode(volume, claim)) return { act: 'reconcile claim' };
    const message = `Cannot bind PersistentVolume "${volume.metadata?.name}" to requested PersistentVolumeClaim "${claim.metadata?.name}" due to incompatible volumeMode.`;
    const notice: Notice = { type: 'Warning', reason: 'VolumeMismatch', message };
    return { act: 'reconcile claim', notice };
  }
  if (claim.spec.volumeName === volume.metadata?.name) return { act: 'mark', phase: 'Bound' };
  return isSurplus(volume) ? { act: 'reclaim' } : { act: 'unbind' };
}

/** Whether the volume, whose claim is bound to another, was provisioned and may be deleted. */
function isSurplus({ metadata, spec }: PersistentVolume): boolean {
  return (
    metadata?.annotations?.[provisionedByKey()] !== undefined &&
    spec?.persistentVolumeReclaimPolicy === 'Delete'
  );
}
