/** Small rules that the validation of many kinds uses. */

import {
  checkQualifiedName,
  type FieldError,
  type FieldPath,
  fieldError,
  inclusiveRangeMessage,
  labelSelectorFromObject,
  SelectorError,
  semanticallyEqual,
} from '@orch/apimachinery';
import { knownKeys } from '@orch/component';
import type { LabelSelector } from '@orch/types/meta/v1';

export const notNegative = 'must be greater than or equal to 0';

/** An optional number that must not be negative. */
export function checkNotNegative(value: number | undefined, fieldPath: FieldPath): FieldError[] {
  return value !== undefined && value < 0
    ? [fieldError.invalid(fieldPath, value, notNegative)]
    : [];
}

/** An optional number within inclusive bounds. */
export function checkRange(
  value: number | undefined,
  low: number,
  high: number,
  fieldPath: FieldPath,
): FieldError[] {
  if (value === undefined || (value >= low && value <= high)) return [];
  return [fieldError.invalid(fieldPath, value, inclusiveRangeMessage(low, high))];
}

/** One invalid-value error per message. */
export function invalidEach(
  fieldPath: FieldPath,
  value: unknown,
  messages: readonly string[],
): FieldError[] {
  return messages.map((message) => fieldError.invalid(fieldPath, value, message));
}

/** A text that must not be empty and must have a format. */
export function checkRequired(
  value: string | undefined,
  fieldPath: FieldPath,
  format: (text: string) => readonly string[] = () => [],
  missing = '',
): FieldError[] {
  if (!value) return [fieldError.required(fieldPath, missing)];
  return invalidEach(fieldPath, value, format(value));
}

/** An optional text with a format. */
export function checkOptional(
  value: string | undefined,
  fieldPath: FieldPath,
  format: (text: string) => readonly string[],
): FieldError[] {
  return value ? invalidEach(fieldPath, value, format(value)) : [];
}

/** One of a set of values; absent is invalid. */
export function checkOneOf(
  value: string | undefined,
  values: readonly string[],
  fieldPath: FieldPath,
): FieldError[] {
  return value !== undefined && values.includes(value)
    ? []
    : [fieldError.notSupported(fieldPath, value ?? '', values)];
}

/** Like `checkOneOf`, but an absent or empty value is reported as required. */
export function checkRequiredOneOf(
  value: string | undefined,
  values: readonly string[],
  fieldPath: FieldPath,
): FieldError[] {
  return value ? checkOneOf(value, values, fieldPath) : [fieldError.required(fieldPath)];
}

export function checkQualified(value: string | undefined, fieldPath: FieldPath): FieldError[] {
  return invalidEach(fieldPath, value ?? '', checkQualifiedName(value ?? ''));
}

/** Reports whether the selector matches the labels. False if the selector is invalid. */
export function selectorMatches(
  selector: LabelSelector | undefined,
  labels: Readonly<Record<string, string>> | undefined,
): boolean {
  try {
    const compiled = labelSelectorFromObject(selector);
    return !compiled.everything && compiled.matches(labels);
  } catch (error) {
    if (error instanceof SelectorError) return false;
    throw error;
  }
}

/** One line for each field in which two objects differ. */
export function changedFields<T extends object>(object: T, old: T): string {
  const fields = new Set([...knownKeys(object), ...knownKeys(old)]);
  return [...fields]
    .filter((field) => !semanticallyEqual(object[field], old[field]))
    .map((field) => `  ${field} differs`)
    .join('\n');
}
