/** Computes the status of a definition from all definitions of its group. */
import type { CustomResourceDefinition } from '@orch/types/apiextensions/v1beta1';
import { approvalFinding } from './approval.js';
import { dropCondition, setCondition, statusOf } from './conditions.js';
import { acceptNames } from './names.js';
import { nonStructural, structuralFinding } from './structural-finding.js';

/**
 * Updates the status of `object` and reports whether it changed. See `acceptNames` for the
 * parameters.
 */
export function reconcileDefinitionStatus(
  object: CustomResourceDefinition,
  others: readonly CustomResourceDefinition[],
  earlier: (other: CustomResourceDefinition) => boolean,
  now: string,
): boolean {
  const changes = [acceptNames(object, others, earlier, now)];
  const status = statusOf(object);
  const approval = approvalFinding(object);
  if (approval) changes.push(setCondition(status, approval, now));
  const structure = structuralFinding(object);
  changes.push(
    structure ? setCondition(status, structure, now) : dropCondition(status, nonStructural),
  );
  return changes.includes(true);
}
