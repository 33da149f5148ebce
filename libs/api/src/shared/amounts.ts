/** Rules of amounts that are a number or a percentage, such as how many pods may be missing. */
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
export function validateAmount(value: IntOrString, at: FieldPath): FieldError[] {
  if (typeof value === 'number') {
    return value < 0 ? [fieldError.invalid(at, value, notNegative)] : [];
  }
  return invalidEach(at, value, checkPercent(value));
}

export function validateAtMostAll(value: IntOrString, at: FieldPath): FieldError[] {
  const percent = percentOf(value);
  return percent !== undefined && percent > 100
    ? [fieldError.invalid(at, value, 'must not be greater than 100%')]
    : [];
}

/** `0`, `0%`, and a text that is no number at all. */
export function isNoAmount(value: IntOrString): boolean {
  if (typeof value === 'number') return value === 0;
  const amount = percentOf(value) ?? (/^[+-]?\d+$/.test(value) ? Number(value) : 0);
  return amount === 0;
}
