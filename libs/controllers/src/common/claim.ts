/** Which dependents an owner keeps, adopts or releases. Pure; `claimer.ts` carries it out. */
import { controllerOf, type LabelSelector } from '@orch/apimachinery';
import type { ApiObject } from '@orch/client';

export type Claim = 'keep' | 'adopt' | 'release' | 'ignore';

/**
 * An owner keeps controlled objects that it selects, adopts selected objects without a controller,
 * and releases controlled objects that it no longer selects. While it is being deleted, it neither
 * adopts nor releases.
 *
 * @param isEligible false if the owner could not have the dependent although it selects its labels.
 */
export function claimOf(
  owner: ApiObject,
  selector: LabelSelector,
  dependent: ApiObject,
  isEligible = true,
): Claim {
  const controller = controllerOf(dependent);
  const isSelected = isEligible && selector.matches(dependent.metadata?.labels);
  const isOwnerDeleted = Boolean(owner.metadata?.deletionTimestamp);
  if (controller) {
    if (controller.uid !== owner.metadata?.uid) return 'ignore';
    if (isSelected) return 'keep';
    return isOwnerDeleted ? 'ignore' : 'release';
  }
  if (isOwnerDeleted || !isSelected || dependent.metadata?.deletionTimestamp) return 'ignore';
  return 'adopt';
}
