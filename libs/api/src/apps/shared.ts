/** What the kinds that keep a number of pods have in common. */
import {
  type FieldError,
  type FieldPath,
  fieldError,
  immutable,
  semanticallyEqual,
} from '@orch/apimachinery';
import type { LabelSelector } from '@orch/types/meta/v1';
import { checkNotNegative } from '../shared/rules.js';

/** A selector is for ever. */
export function validateSelectorUpdate(
  selector: LabelSelector | undefined,
  old: LabelSelector | undefined,
  at: FieldPath,
): FieldError[] {
  return semanticallyEqual(selector, old) ? [] : [immutable(at, selector)];
}

type Counts = Readonly<Record<string, unknown>>;

/** Counts of a status: none below zero, none of `parts` above the total. */
export function validateCounts(
  status: object,
  fields: readonly string[],
  parts: readonly string[],
  at: FieldPath,
): FieldError[] {
  const count = (field: string) => Number((status as Counts)[field] ?? 0);
  const errors = fields.flatMap((field) => checkNotNegative(count(field), at.child(field)));
  for (const field of parts) {
    if (count(field) > count('replicas')) {
      errors.push(
        fieldError.invalid(at.child(field), count(field), 'cannot be greater than status.replicas'),
      );
    }
  }
  if (count('availableReplicas') > count('readyReplicas')) {
    errors.push(
      fieldError.invalid(
        at.child('availableReplicas'),
        count('availableReplicas'),
        'cannot be greater than readyReplicas',
      ),
    );
  }
  return errors;
}
