/** What a claim needs: a volume, a provisioner, a pod to wait for, or nothing any more. Pure. */
import {
  bindCompletedKey,
  claimRequest,
  hasAccessModes,
  hasVolumeMode,
  isReservedFor,
  type LabelSelector,
  labelSelectorFromObject,
  selectedNodeKey,
  storageClassName,
  volumeCapacity,
} from '@orch/apimachinery';
import type { EventType } from '@orch/client';
import type { PersistentVolume, PersistentVolumeClaim } from '@orch/types/core/v1';
import type { StorageClass } from '@orch/types/storage/v1';

/** An event about the object of the decision. */
export interface Notice {
  readonly type: EventType;
  readonly reason: string;
  readonly message: string;
}

export interface ClaimState {
  readonly claim: PersistentVolumeClaim;
  /** The volume that the claim names. */
  readonly namedVolume: PersistentVolume | undefined;
  /** The volumes of the class of the claim, and the volumes that are reserved for it. */
  readonly candidates: readonly PersistentVolume[];
  readonly storageClass: StorageClass | undefined;
  /** Names of the pods that use the claim and have no node. */
  readonly waitingPods: readonly string[];
}

export type ClaimDecision =
  | { readonly act: 'bind'; readonly volume: PersistentVolume }
  | { readonly act: 'provision' }
  | { readonly act: 'wait'; readonly notice?: Notice }
  | { readonly act: 'lose'; readonly notice: Notice };

export function planClaim(state: ClaimState): ClaimDecision {
  const { claim } = state;
  if (claim.metadata?.annotations?.[bindCompletedKey()] !== undefined) return planBound(state);
  // A claim that is being deleted gets no volume: its data would be lost with it.
  if (claim.metadata?.deletionTimestamp) return { act: 'wait' };
  return claim.spec?.volumeName ? planNamed(state) : planUnbound(state);
}

function planBound({ claim, namedVolume }: ClaimState): ClaimDecision {
  if (!claim.spec?.volumeName) {
    return lose('ClaimLost', 'Bound claim has lost reference to PersistentVolume.');
  }
  if (!namedVolume) return lose('ClaimLost', 'Bound claim has lost its PersistentVolume.');
  const uid = namedVolume.spec?.claimRef?.uid;
  if (!namedVolume.spec?.claimRef || uid === claim.metadata?.uid) {
    return { act: 'bind', volume: namedVolume };
  }
  const message = 'Two claims are bound to the same volume, this one is bound incorrectly';
  return { act: 'lose', notice: { type: 'Warning', reason: 'ClaimMisbound', message } };
}

function lose(reason: string, message: string): ClaimDecision {
  const notice: Notice = {
    type: 'Warning',
    reason,
    message: `${message} Data on the volume is lost!`,
  };
  return { act: 'lose', notice };
}

/** The claim requests one volume by name. */
function planNamed({ claim, namedVolume }: ClaimState): ClaimDecision {
  if (!namedVolume) return { act: 'wait' };
  if (isReservedFor(namedVolume, claim)) return { act: 'bind', volume: namedVolume };
  const name = namedVolume.metadata?.name ?? '';
  if (namedVolume.spec?.claimRef) {
    const message = `volume "${name}" already bound to a different claim.`;
    return { act: 'wait', notice: { type: 'Warning', reason: 'FailedBinding', message } };
  }
  const mismatch = mismatchOf(namedVolume, claim);
  if (!mismatch) return { act: 'bind', volume: namedVolume };
  const message = `Cannot bind to requested volume "${name}": ${mismatch}`;
  return { act: 'wait', notice: { type: 'Warning', reason: 'VolumeMismatch', message } };
}

function mismatchOf(volume: PersistentVolume, claim: PersistentVolumeClaim): string | undefined {
  if (volume.metadata?.deletionTimestamp) return 'requested PV is being deleted';
  if (volumeCapacity(volume) < claimRequest(claim)) return 'requested PV is too small';
  if (storageClassName(volume) !== storageClassName(claim))
    return 'storageClassName does not match';
  if (!hasVolumeMode(volume, claim)) return 'incompatible volumeMode';
  return hasAccessModes(volume, claim) ? undefined : 'incompatible accessMode';
}

function planUnbound(state: ClaimState): ClaimDecision {
  const { claim, candidates, storageClass, waitingPods } = state;
  const isSelected = claim.metadata?.annotations?.[selectedNodeKey()] !== undefined;
  const isDelayed = storageClass?.volumeBindingMode === 'WaitForFirstConsumer' && !isSelected;
  const volume = bestVolume(claim, candidates, isDelayed);
  if (volume) return { act: 'bind', volume };
  if (isDelayed) return { act: 'wait', notice: waitNotice(waitingPods) };
  if (storageClassName(claim) !== '') return { act: 'provision' };
  const message = 'no persistent volumes available for this claim and no storage class is set';
  return { act: 'wait', notice: { type: 'Normal', reason: 'FailedBinding', message } };
}

function waitNotice(pods: readonly string[]): Notice {
  if (pods.length === 0) {
    const message = 'waiting for first consumer to be created before binding';
    return { type: 'Normal', reason: 'WaitForFirstConsumer', message };
  }
  const message = `waiting for pod${pods.length > 1 ? 's' : ''} ${pods.join(',')} to be scheduled`;
  return { type: 'Normal', reason: 'WaitForPodScheduled', message };
}

/**
 * Returns the volume that is reserved for the claim, otherwise the one with the fewest access
 * modes, and of these the smallest. `isDelayed`: the scheduler selects volumes that are not
 * reserved.
 */
function bestVolume(
  claim: PersistentVolumeClaim,
  candidates: readonly PersistentVolume[],
  isDelayed: boolean,
): PersistentVolume | undefined {
  const requested = claimRequest(claim);
  const suitable = candidates.filter(
    (volume) =>
      !volume.metadata?.deletionTimestamp &&
      (!volume.spec?.claimRef || isReservedFor(volume, claim)) &&
      volumeCapacity(volume) >= requested &&
      hasVolumeMode(volume, claim) &&
      hasAccessModes(volume, claim),
  );
  const reserved = suitable.find((volume) => isReservedFor(volume, claim));
  if (reserved || isDelayed) return reserved;
  const selector = claim.spec?.selector && labelSelectorFromObject(claim.spec.selector);
  return suitable
    .filter((volume) => isAvailable(volume, claim, selector))
    .sort((a, b) => modeCount(a) - modeCount(b) || compareSizes(a, b))[0];
}

function isAvailable(
  volume: PersistentVolume,
  claim: PersistentVolumeClaim,
  selector: LabelSelector | undefined,
): boolean {
  if (volume.status?.phase !== 'Available') return false;
  if (storageClassName(volume) !== storageClassName(claim)) return false;
  return !selector || selector.matches(volume.metadata?.labels ?? {});
}

function modeCount({ spec }: PersistentVolume): number {
  return new Set(spec?.accessModes ?? []).size;
}

function compareSizes(a: PersistentVolume, b: PersistentVolume): number {
  const difference = volumeCapacity(a) - volumeCapacity(b);
  return difference < 0n ? -1 : difference > 0n ? 1 : 0;
}
