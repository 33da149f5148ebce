/** Rules of the conditions of a status, for kinds whose conditions are of the common type. */
import {
  checkConditionReason,
  type FieldError,
  type FieldPath,
  fieldError,
} from '@orch/apimachinery';
import type { Condition } from '@orch/types/meta/v1';
import { checkOneOf, checkQualified, checkRequired } from './rules.js';

const reasonBytesMax = 1024;
const messageBytesMax = 32 * 1024;

export function validateConditions(
  conditions: readonly Condition[] | undefined,
  at: FieldPath,
): FieldError[] {
  const known = new Set<string>();
  return (conditions ?? []).flatMap((condition, index) => {
    const field = at.index(index);
    const errors = validateCondition(condition, field);
    if (known.has(condition.type)) {
      errors.unshift(fieldError.duplicate(field.child('type'), condition.type));
    }
    known.add(condition.type);
    return errors;
  });
}

function validateCondition(condition: Condition, at: FieldPath): FieldError[] {
  const { type, status, observedGeneration = 0, lastTransitionTime, reason, message } = condition;
  const errors = [
    ...checkQualified(type, at.child('type')),
    ...checkOneOf(status, ['False', 'True', 'Unknown'], at.child('status')),
  ];
  if (observedGeneration < 0) {
    errors.push(
      fieldError.invalid(
        at.child('observedGeneration'),
        observedGeneration,
        'must be greater than or equal to zero',
      ),
    );
  }
  if (!lastTransitionTime) {
    errors.push(fieldError.required(at.child('lastTransitionTime'), 'must be set'));
  }
  errors.push(...checkRequired(reason, at.child('reason'), checkConditionReason, 'must be set'));
  errors.push(...checkBytes(reason, reasonBytesMax, at.child('reason')));
  errors.push(...checkBytes(message, messageBytesMax, at.child('message')));
  return errors;
}

function checkBytes(text: string | undefined, bytesMax: number, at: FieldPath): FieldError[] {
  return Buffer.byteLength(text ?? '') > bytesMax ? [fieldError.tooLong(at, bytesMax)] : [];
}
