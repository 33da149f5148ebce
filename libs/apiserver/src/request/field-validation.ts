/** The `fieldValidation` parameter: how unknown fields are handled. */
import { badRequest } from '@orch/apimachinery';
import type { Query } from '../http/query.js';
import type { RequestContext } from '../http/request-context.js';

export type FieldValidation = 'Ignore' | 'Warn' | 'Strict';

/** Throws 400 for any other value. */
export function fieldValidationOf(query: Query): FieldValidation {
  const value = query.get('fieldValidation');
  if (value === '') return 'Ignore';
  if (value === 'Ignore' || value === 'Warn' || value === 'Strict') return value;
  throw badRequest(
    `fieldValidation: Unsupported value: ${JSON.stringify(value)}: supported values: "Ignore", "Warn", "Strict"`,
  );
}

/** How to handle fields that the type does not have. */
export interface FieldCheck {
  readonly mode: FieldValidation;
  /** Receives the warnings. */
  readonly warnings: string[];
}

/** What the client wants done about unknown fields. Throws 400. */
export function fieldCheck({ query, warnings }: RequestContext): FieldCheck {
  return { mode: fieldValidationOf(query), warnings };
}
