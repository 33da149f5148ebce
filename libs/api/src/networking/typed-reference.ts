/** Validates references to objects of any kind by group, kind and name. */
import {
  checkDns1123Subdomain,
  checkPathSegment,
  type FieldError,
  type FieldPath,
  fieldError,
} from '@orch/apimachinery';
import { invalidEach } from '../shared/rules.js';

interface TypedReference {
  readonly apiGroup?: string;
  readonly kind?: string;
  readonly name?: string;
}

export function validateTypedReference(
  reference: TypedReference,
  fieldPath: FieldPath,
): FieldError[] {
  const { apiGroup } = reference;
  const errors =
    apiGroup === undefined
      ? []
      : invalidEach(fieldPath.child('apiGroup'), apiGroup, checkDns1123Subdomain(apiGroup));
  for (const field of ['kind', 'name'] as const) {
    const value = reference[field];
    if (!value) errors.push(fieldError.required(fieldPath.child(field), `${field} is required`));
    else errors.push(...invalidEach(fieldPath.child(field), value, checkPathSegment(value)));
  }
  return errors;
}
