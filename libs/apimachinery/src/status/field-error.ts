/** Validation errors with the field's path, in the wording that clients of this interface know. */

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
  /** The value at fault; shown in the message of the types that show it. */
  readonly value?: unknown;
  readonly detail: string;
}
