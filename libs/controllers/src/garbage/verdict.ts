/** What becomes of an object, once it is known what its owners are. Pure. */
import type { OwnerReference } from '@orch/types/meta/v1';
import { foregroundFinalizer, orphanFinalizer } from './owner-graph.js';

/**
 * - solid: there, and stays;
 * - waiting: there, and being deleted once its dependents are;
 * - absent: not there (or another object of that name is).
 */
export type OwnerState = 'solid' | 'waiting' | 'absent';

export interface Judged {
  readonly reference: OwnerReference;
  readonly state: OwnerState;
}

export type Verdict =
  | { readonly action: 'keep' }
  /** Some owners remain: only the references to the others go. */
  | { readonly action: 'dropOwners'; readonly uids: readonly string[] }
  | {
      readonly action: 'delete';
      readonly policy: 'Orphan' | 'Foreground' | 'Background';
      /** Its dependents wait for each other: their owner must not be blocked by it. */
      readonly mustUnblock: boolean;
    };

export function verdictOn(input: {
  readonly owners: readonly Judged[];
  readonly finalizers: readonly string[];
  readonly dependentCount: number;
  /** Whether one of its dependents is itself waiting for dependents. */
  readonly isInCycle: boolean;
}): Verdict {
  const { owners, finalizers, dependentCount, isInCycle } = input;
  if (owners.length === 0) return { action: 'keep' };
  const gone = owners.filter((owner) => owner.state !== 'solid');
  if (gone.length < owners.length) {
    if (gone.length === 0) return { action: 'keep' };
    return { action: 'dropOwners', uids: gone.map((owner) => owner.reference.uid ?? '') };
  }
  const isOwnerWaiting = owners.some((owner) => owner.state === 'waiting');
  if (isOwnerWaiting && dependentCount > 0) {
    return { action: 'delete', policy: 'Foreground', mustUnblock: isInCycle };
  }
  // Somebody has asked for a way of deletion before: it is kept to.
  const policy = finalizers.includes(orphanFinalizer)
    ? 'Orphan'
    : finalizers.includes(foregroundFinalizer)
      ? 'Foreground'
      : 'Background';
  return { action: 'delete', policy, mustUnblock: false };
}
