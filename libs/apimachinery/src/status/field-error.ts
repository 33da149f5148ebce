/**
 * Validation errors with the path of the field, in the wording of the interface. Invariant: one
 * error is one cause of the response, in the order of validation.
 */
import type { FieldPath } from './field-path.js';
import { formatValue, quote } from './value-format.js';

export type FieldErrorType =
  | 'required'
  | 'invalid'
  | 'notSupported'
  | 'duplicate'
  | 'forbidden'
  | 'notFound'
  | 'tooLong'
  | 'tooMany'
  | 'typeInvalid'
  | 'internal';

export interface FieldError {
  readonly type: FieldErrorType;
  /** JSON path, such as `spec.containers[0].name`. */
  readonly field: string;
  /** The invalid value; shown in the message of the types that show it. */
  readonly value?: unknown;
  readonly detail: string;
}

interface Wording {
  readonly title: string;
  /** Reason of the cause in the Status. */
  readonly reason: string;
  readonly showsValue: boolean;
}

const wordings: Record<FieldErrorType, Wording> = {
  required: { title: 'Required value', reason: 'FieldValueRequired', showsValue: false },
  invalid: { title: 'Invalid value', reason: 'FieldValueInvalid', showsValue: true },
  notSupported: { title: 'Unsupported value', reason: 'FieldValueNotSupported', showsValue: true },
  duplicate: { title: 'Duplicate value', reason: 'FieldValueDuplicate', showsValue: true },
  forbidden: { title: 'Forbidden', reason: 'FieldValueForbidden', showsValue: false },
  notFound: { title: 'Not found', reason: 'FieldValueNotFound', showsValue: true },
  tooLong: { title: 'Too long', reason: 'FieldValueTooLong', showsValue: false },
  tooMany: { title: 'Too many', reason: 'FieldValueTooMany', showsValue: true },
  typeInvalid: { title: 'Invalid value', reason: 'FieldValueTypeInvalid', showsValue: true },
  internal: { title: 'Internal error', reason: 'InternalError', showsValue: false },
};

type Field = FieldPath | string;

/** Constructors; `field` is a path or its text. */
export const fieldError = {
  required: (field: Field, detail = ''): FieldError => build('required', field, undefined, detail),
  invalid: (field: Field, value: unknown, detail: string): FieldError =>
    build('invalid', field, value, detail),
  /** Lists the supported values in the given order. */
  notSupported: (field: Field, value: unknown, supported: readonly string[]): FieldError =>
    build(
      'notSupported',
      field,
      value,
      supported.length > 0 ? `supported values: ${supported.map(quote).join(', ')}` : '',
    ),
  duplicate: (field: Field, value: unknown): FieldError => build('duplicate', field, value, ''),
  forbidden: (field: Field, detail: string): FieldError =>
    build('forbidden', field, undefined, detail),
  notFound: (field: Field, value: unknown): FieldError => build('notFound', field, value, ''),
  tooLong: (field: Field, bytesMax: number): FieldError =>
    build('tooLong', field, undefined, `must have at most ${bytesMax} bytes`),
  tooMany: (field: Field, itemCount: number, itemCountMax: number): FieldError =>
    build('tooMany', field, itemCount, `must have at most ${itemCountMax} items`),
  typeInvalid: (field: Field, value: unknown, detail: string): FieldError =>
    build('typeInvalid', field, value, detail),
  internal: (field: Field, detail: string): FieldError =>
    build('internal', field, undefined, detail),
};

function build(type: FieldErrorType, field: Field, value: unknown, detail: string): FieldError {
  return { type, field: field.toString(), value, detail };
}

/** The message without the path, as a cause shows it. */
export function fieldErrorBody(error: FieldError): string {
  const { title, showsValue } = wordings[error.type];
  const head = showsValue ? `${title}: ${formatValue(error.value)}` : title;
  return error.detail === '' ? head : `${head}: ${error.detail}`;
}

/** The message with the path. */
export function fieldErrorMessage(error: FieldError): string {
  return `${error.field}: ${fieldErrorBody(error)}`;
}

/** The `reason` of the error's cause. */
export function fieldErrorReason(error: FieldError): string {
  return wordings[error.type].reason;
}

/** One message unchanged, several as `[a, b]`; duplicates are removed. */
export function aggregateMessages(messages: readonly string[]): string {
  const distinct = [...new Set(messages)];
  return distinct.length === 1 ? (distinct[0] ?? '') : `[${distinct.join(', ')}]`;
}
