/** Decides what happens to an object, given the state of its owners. Pure. */
import type { OwnerReference } from '@orch/types/meta/v1';
import { foregroundFinalizer, orphanFinalizer } from './owner-graph.js';

/**
 * - solid: exists and stays;
 * - waiting: exists and is deleted after its dependents;
 * - absent: does not exist, or another object has its name.
 */
export type OwnerState = 'solid' | 'waiting' | 'absent';

export interface OwnerWithState {
  readonly reference: OwnerReference;
  readonly state: OwnerState;
}

export type DeletionDecision =
  | { readonly action: 'keep' }
  /** Some owners stay: only the references to the others are removed. */
  | { readonly action: 'dropOwners'; readonly uids: readonly string[] }
  | {
      readonly action: 'delete';
      readonly policy: 'Orphan' | 'Foreground' | 'Background';
      /** Its dependents wait for each other: it must not block its owner. */
      readonly mustUnblock: boolean;
    };

export function decideDeletion(input: {
  readonly owners: readonly OwnerWithState[];
  readonly finalizers: readonly string[];
  readonly dependentCount: number;
  /** Whether one of its dependents waits for dependents itself. */
  readonly isInCycle: boolean;
}): DeletionDecision {
  const { owners, finalizers, dependentCount, isInCycle } = input;
  const leaving = owners.filter((owner) => owner.state !== 'solid');
  if (leaving.length === 0) return { action: 'keep' };
  if (leaving.length < owners.length) {
    return { action: 'dropOwners', uids: leaving.map((owner) => owner.reference.uid ?? '') };
  }
  const isOwnerWaiting = owners.some((owner) => owner.state === 'waiting');
  if (isOwnerWaiting && dependentCount > 0) {
    return { action: 'delete', policy: 'Foreground', mustUnblock: isInCycle };
  }
  // An earlier deletion request may have chosen a policy: it still applies.
  const policy = finalizers.includes(orphanFinalizer)
    ? 'Orphan'
    : finalizers.includes(foregroundFinalizer)
      ? 'Foreground'
      : 'Background';
  return { action: 'delete', policy, mustUnblock: false };
}
