/** Validates status conditions of the common type. */
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
  fieldPath: FieldPath,
): FieldError[] {
  const known = new Set<string>();
  return (conditions ?? []).flatMap((condition, index) => {
    const field = fieldPath.index(index);
    const errors = validateCondition(condition, field);
    if (known.has(condition.type)) {
      errors.unshift(fieldError.duplicate(field.child('type'), condition.type));
    }
    known.add(condition.type);
    return errors;
  });
}

function validateCondition(condition: Condition, fieldPath: FieldPath): FieldError[] {
  const { type, status, observedGeneration = 0, lastTransitionTime, reason, message } = condition;
  const errors = [
    ...checkQualified(type, fieldPath.child('type')),
    ...checkOneOf(status, ['False', 'True', 'Unknown'], fieldPath.child('status')),
  ];
  if (observedGeneration < 0) {
    errors.push(
      fieldError.invalid(
        fieldPath.child('observedGeneration'),
        observedGeneration,
        'must be greater than or equal to zero',
      ),
    );
  }
  if (!lastTransitionTime) {
    errors.push(fieldError.required(fieldPath.child('lastTransitionTime'), 'must be set'));
  }
  errors.push(
    ...checkRequired(reason, fieldPath.child('reason'), checkConditionReason, 'must be set'),
  );
  errors.push(...checkBytes(reason, reasonBytesMax, fieldPath.child('reason')));
  errors.push(...checkBytes(message, messageBytesMax, fieldPath.child('message')));
  return errors;
}

function checkBytes(
  text: string | undefined,
  bytesMax: number,
  fieldPath: FieldPath,
): FieldError[] {
  return Buffer.byteLength(text ?? '') > bytesMax ? [fieldError.tooLong(fieldPath, bytesMax)] : [];
}
