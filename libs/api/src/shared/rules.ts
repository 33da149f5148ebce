/** Small rules that the validation of many kinds is made of. */
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
import type { LabelSelector } from '@orch/types/meta/v1';

export const notNegative = 'must be greater than or equal to 0';

/** A number that may be absent, not below zero. */
export function checkNotNegative(value: number | undefined, at: FieldPath): FieldError[] {
  return value !== undefined && value < 0 ? [fieldError.invalid(at, value, notNegative)] : [];
}

/** A number that may be absent, within bounds; both included. */
export function checkRange(
  value: number | undefined,
  low: number,
  high: number,
  at: FieldPath,
): FieldError[] {
  if (value === undefined || (value >= low && value <= high)) return [];
  return [fieldError.invalid(at, value, inclusiveRangeMessage(low, high))];
}

/** One invalid-value error a message. */
export function invalidEach(
  at: FieldPath,
  value: unknown,
  messages: readonly string[],
): FieldError[] {
  return messages.map((message) => fieldError.invalid(at, value, message));
}

/** A text that must not be empty and must fit a format. */
export function checkRequired(
  value: string | undefined,
  at: FieldPath,
  format: (text: string) => readonly string[] = () => [],
  missing = '',
): FieldError[] {
  if (!value) return [fieldError.required(at, missing)];
  return invalidEach(at, value, format(value));
}

/** A text that fits a format when it is there. */
export function checkOptional(
  value: string | undefined,
  at: FieldPath,
  format: (text: string) => readonly string[],
): FieldError[] {
  return value ? invalidEach(at, value, format(value)) : [];
}

/** One of a set; absent is not one. */
export function checkOneOf(
  value: string | undefined,
  values: readonly string[],
  at: FieldPath,
): FieldError[] {
  return value !== undefined && values.includes(value)
    ? []
    : [fieldError.notSupported(at, value ?? '', values)];
}

/** As `checkOneOf`, but absent or empty is a missing value. */
export function checkRequiredOneOf(
  value: string | undefined,
  values: readonly string[],
  at: FieldPath,
): FieldError[] {
  return value ? checkOneOf(value, values, at) : [fieldError.required(at)];
}

export function checkQualified(value: string | undefined, at: FieldPath): FieldError[] {
  return invalidEach(at, value ?? '', checkQualifiedName(value ?? ''));
}

/** Does the selector select the labels? False when the selector cannot be read. */
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

/** A line for each field in which two objects differ. */
export function changedFields<T extends object>(object: T, old: T): string {
  const fields = new Set([...Object.keys(object), ...Object.keys(old)]) as Set<keyof T & string>;
  return [...fields]
    .filter((field) => !semanticallyEqual(object[field], old[field]))
    .map((field) => `  ${field} differs`)
    .join('\n');
}
