export type { FieldError, FieldErrorType } from './status/field-error.js';
