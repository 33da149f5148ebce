/**
 * The objects of a binding: the claim reference of a volume, the volume name of a claim, their
 * annotations and the status of the claim. Pure. Each function returns undefined if the object
 * needs no change.
 */
import {
  bindCompletedKey,
  boundByControllerKey,
  isReservedFor,
  semanticallyEqual,
} from '@orch/apimachinery';
import type {
  ObjectReference,
  PersistentVolume,
  PersistentVolumeClaim,
  PersistentVolumeClaimStatus,
} from '@orch/types/core/v1';

export function claimReferenceOf({ metadata }: PersistentVolumeClaim): ObjectReference {
  const { namespace, name, uid, resourceVersion } = metadata ?? {};
  return {
    ...{ apiVersion: 'v1', kind: 'PersistentVolumeClaim' },
    ...{ namespace, name, uid, resourceVersion },
  };
}

/** Returns the volume with a reference to the claim. A reservation by hand stays marked as such. */
export function volumeWithClaim(
  volume: PersistentVolume,
  claim: PersistentVolumeClaim,
): PersistentVolume | undefined {
  const isReserved = isReservedFor(volume, claim);
  if (isReserved && volume.spec?.claimRef?.uid) return undefined;
  return {
    ...(isReserved ? volume : withAnnotation(volume, boundByControllerKey())),
    spec: { ...volume.spec, claimRef: claimReferenceOf(claim) },
  };
}

/** Returns the volume without its claim; a reservation by hand remains, for a claim of the name. */
export function volumeWithoutClaim(volume: PersistentVolume): PersistentVolume | undefined {
  const { claimRef, ...spec } = volume.spec ?? {};
  if (!claimRef) return undefined;
  const { [boundByControllerKey()]: isChosen, ...annotations } = volume.metadata?.annotations ?? {};
  if (isChosen !== undefined) {
    return { ...volume, metadata: { ...volume.metadata, annotations }, spec };
  }
  if (!claimRef.uid) return undefined;
  const { uid: _, resourceVersion: __, ...reservation } = claimRef;
  return { ...volume, spec: { ...spec, claimRef: reservation } };
}

/** Returns the claim with the name of the volume and the mark of a complete binding. */
export function claimWithVolume(
  claim: PersistentVolumeClaim,
  { metadata }: PersistentVolume,
): PersistentVolumeClaim | undefined {
  const isNamed = claim.spec?.volumeName === metadata?.name;
  const isComplete = claim.metadata?.annotations?.[bindCompletedKey()] !== undefined;
  if (isNamed && isComplete) return undefined;
  const marked = withAnnotation(claim, bindCompletedKey());
  if (isNamed) return marked;
  const chosen = withAnnotation(marked, boundByControllerKey());
  return { ...chosen, spec: { ...claim.spec, volumeName: metadata?.name ?? '' } };
}

/**
 * Returns the claim with the status of a bound one. The size of a claim that is bound already
 * changes only by an expansion.
 */
export function boundClaim(
  claim: PersistentVolumeClaim,
  { spec }: PersistentVolume,
): PersistentVolumeClaim | undefined {
  const hasSize = claim.status?.phase === 'Bound' && claim.status.capacity !== undefined;
  const capacity = hasSize ? claim.status?.capacity : spec?.capacity;
  return claimWithStatus(claim, {
    ...claim.status,
    phase: 'Bound',
    accessModes: spec?.accessModes ?? [],
    ...(capacity && { capacity }),
  });
}

/** Returns the claim with the status of one without a volume. */
export function unboundClaim(
  claim: PersistentVolumeClaim,
  phase: 'Pending' | 'Lost',
): PersistentVolumeClaim | undefined {
  const { accessModes: _, capacity: __, ...status } = claim.status ?? {};
  return claimWithStatus(claim, { ...status, phase });
}

/** Returns the volume with the phase; the message explains a failure. */
export function volumeWithPhase(
  volume: PersistentVolume,
  phase: 'Available' | 'Bound' | 'Released' | 'Failed',
  message = '',
): PersistentVolume | undefined {
  const { message: before = '', ...status } = volume.status ?? {};
  if (status.phase === phase && before === message) return undefined;
  return { ...volume, status: { ...status, phase, ...(message && { message }) } };
}

function claimWithStatus(
  claim: PersistentVolumeClaim,
  status: PersistentVolumeClaimStatus,
): PersistentVolumeClaim | undefined {
  return semanticallyEqual(claim.status ?? {}, status) ? undefined : { ...claim, status };
}

export function withAnnotation<T extends PersistentVolume | PersistentVolumeClaim>(
  object: T,
  key: string,
  value = 'yes',
): T {
  const annotations = { ...object.metadata?.annotations, [key]: value };
  return { ...object, metadata: { ...object.metadata, annotations } };
}
