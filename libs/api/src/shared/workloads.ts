/** Rules that kinds which keep a number of pods have in common. */
import {
  type FieldError,
  type FieldPath,
  fieldError,
  immutable,
  path,
  semanticallyEqual,
} from '@orch/apimachinery';
import type { LabelSelector, ObjectMeta } from '@orch/types/meta/v1';
import { checkNotNegative } from './rules.js';

interface Counted {
  metadata?: ObjectMeta;
}

interface Templated extends Counted {
  spec?: { template?: { metadata?: ObjectMeta } };
}

/** An object without labels has those of its template. */
export function labelAsTemplate(object: Templated): void {
  const labels = object.spec?.template?.metadata?.labels ?? {};
  if (Object.keys(labels).length === 0) return;
  object.metadata ??= {};
  if (Object.keys(object.metadata.labels ?? {}).length === 0)
    object.metadata.labels = { ...labels };
}

/** A selector is for ever. */
export function validateSelectorUpdate(
  selector: LabelSelector | undefined,
  old: LabelSelector | undefined,
  at: FieldPath,
): FieldError[] {
  return semanticallyEqual(selector, old) ? [] : [immutable(at, selector)];
}

interface Collided {
  readonly collisionCount?: number;
}

/** How often a name was taken already only ever grows. */
export function validateCollisionCount(
  status: Collided | undefined,
  old: Collided | undefined,
): FieldError[] {
  const count = status?.collisionCount ?? 0;
  const before = old?.collisionCount;
  if (before === undefined || (status?.collisionCount !== undefined && count >= before)) return [];
  return [fieldError.invalid(path('status', 'collisionCount'), count, 'cannot be decremented')];
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
  if (parts.includes('availableReplicas') && count('availableReplicas') > count('readyReplicas')) {
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
