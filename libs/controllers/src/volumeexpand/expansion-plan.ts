/** What the growth of a claim needs. Pure. */
import { localPathProvisioner, provisionedByKey, Quantity } from '@orch/apimachinery';
import type { PersistentVolume, PersistentVolumeClaim } from '@orch/types/core/v1';

export type ExpansionPlan =
  | { readonly act: 'none' }
  /** `isDriver`: a driver with a controller of its own expands it; otherwise nothing may do so. */
  | { readonly act: 'leave'; readonly isDriver: boolean }
  /** Undefined objects need no change. */
  | {
      readonly act: 'expand';
      readonly volume: PersistentVolume | undefined;
      readonly claim: PersistentVolumeClaim;
    };

const sizeOf = (amounts: Readonly<Record<string, string>> | undefined) =>
  Quantity.parse(amounts?.storage ?? '0');

/** `volume`: the volume that the claim names. */
export function planExpansion(
  claim: PersistentVolumeClaim,
  volume: PersistentVolume | undefined,
): ExpansionPlan {
  const storage = claim.spec?.resources?.requests?.storage;
  if (storage === undefined || claim.status?.phase !== 'Bound') return { act: 'none' };
  if (!volume || volume.spec?.claimRef?.uid !== claim.metadata?.uid) return { act: 'none' };
  const requested = Quantity.parse(storage);
  if (requested.compare(sizeOf(claim.status.capacity)) <= 0) return { act: 'none' };
  // A directory has no size of its own: only the objects change.
  if (volume.metadata?.annotations?.[provisionedByKey()] !== localPathProvisioner()) {
    return { act: 'leave', isDriver: volume.spec?.csi !== undefined };
  }
  const isLarge = sizeOf(volume.spec?.capacity).compare(requested) >= 0;
  const capacity = { ...volume.spec?.capacity, storage };
  const size = isLarge ? (volume.spec?.capacity?.storage ?? storage) : storage;
  return {
    act: 'expand',
    volume: isLarge ? undefined : { ...volume, spec: { ...volume.spec, capacity } },
    claim: {
      ...claim,
      status: { ...claim.status, capacity: { ...claim.status.capacity, storage: size } },
    },
  };
}
