/** The condition that reports non-structural schemas of old definitions. */
import { type FieldError, fieldErrorMessage, path } from '@orch/apimachinery';
import type { CustomResourceDefinition } from '@orch/types/apiextensions/v1beta1';
import { schemaErrors, schemaRules } from '../schema/index.js';
import type { Finding } from './conditions.js';

const violationsShownMax = 10;

export const nonStructural = 'NonStructuralSchema';

/** Undefined if every schema is structural. */
export function structuralFinding({ spec }: CustomResourceDefinition): Finding | undefined {
  // Validation has enforced structural schemas on all other definitions.
  if (!spec.preserveUnknownFields) return undefined;
  const rules = {
    ...schemaRules('v1beta1', spec, spec),
    requireStructural: true,
    statusSubresource: false,
  };
  const fieldPath = path('spec');
  const errors: FieldError[] = schemaErrors(
    spec.validation?.openAPIV3Schema,
    fieldPath.child('validation'),
    rules,
  );
  for (const [index, { schema }] of (spec.versions ?? []).entries()) {
    const field = fieldPath.child('versions').index(index).child('schema');
    errors.push(...schemaErrors(schema?.openAPIV3Schema, field, rules));
  }
  if (errors.length === 0) return undefined;
  const messages = errors.slice(0, violationsShownMax).map(fieldErrorMessage);
  const message = messages.length === 1 ? messages[0]! : `[${messages.join(', ')}]`;
  return { type: nonStructural, status: 'True', reason: 'Violations', message };
}
