/**
 * Which dependents an owner has: those it controls and still selects, and those without a controller
 * that it selects (to be adopted). One that is controlled but not selected any more is let go. Pure;
 * carrying the decision out is `Claimer`'s part.
 */
import { controllerOf, type LabelSelector } from '@orch/apimachinery';
import type { ApiObject } from '@orch/client';

export type Claim = 'keep' | 'adopt' | 'release' | 'ignore';

export function claimOf(owner: ApiObject, selector: LabelSelector, dependent: ApiObject): Claim {
  const controller = controllerOf(dependent);
  const isSelected = selector.matches(dependent.metadata?.labels);
  const isOwnerGoing = Boolean(owner.metadata?.deletionTimestamp);
  if (controller) {
    if (controller.uid !== owner.metadata?.uid) return 'ignore';
    if (isSelected) return 'keep';
    return isOwnerGoing ? 'ignore' : 'release';
  }
  if (isOwnerGoing || !isSelected || dependent.metadata?.deletionTimestamp) return 'ignore';
  return 'adopt';
}
