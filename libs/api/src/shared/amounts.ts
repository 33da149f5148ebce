/** Validates values that are a number or a percentage, such as the number of unavailable pods. */
import {
  checkPercent,
  type FieldError,
  type FieldPath,
  fieldError,
  type IntOrString,
  percentOf,
} from '@orch/apimachinery';
import { invalidEach, notNegative } from './rules.js';

/** A number that is not negative, or a percentage. */
export function validateAmount(value: IntOrString, fieldPath: FieldPath): FieldError[] {
  if (typeof value === 'number') {
    return value < 0 ? [fieldError.invalid(fieldPath, value, notNegative)] : [];
  }
  return invalidEach(fieldPath, value, checkPercent(value));
}

export function validateAtMostAll(value: IntOrString, fieldPath: FieldPath): FieldError[] {
  const percent = percentOf(value);
  return percent !== undefined && percent > 100
    ? [fieldError.invalid(fieldPath, value, 'must not be greater than 100%')]
    : [];
}

/** `0`, `0%`, or a text that is not a number. */
export function isNoAmount(value: IntOrString): boolean {
  if (typeof value === 'number') return value === 0;
  const amount = percentOf(value) ?? (/^[+-]?\d+$/.test(value) ? Number(value) : 0);
  return amount === 0;
}
