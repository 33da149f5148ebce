/** Old definitions may have schemas without structure: what is wrong with them is told by a condition. */
import { type FieldError, fieldErrorMessage, path } from '@orch/apimachinery';
import type { CustomResourceDefinition } from '@orch/types/apiextensions/v1beta1';
import type { Finding } from './conditions.js';
import { schemaErrors, schemaRules } from './schema/index.js';

const violationsShownMax = 10;

export const nonStructural = 'NonStructuralSchema';

/** Undefined when every schema has a structure. */
export function structuralFinding({ spec }: CustomResourceDefinition): Finding | undefined {
  // Everybody else has been held to it.
  if (!spec.preserveUnknownFields) return undefined;
  const rules = {
    ...schemaRules('v1beta1', spec, spec),
    requireStructural: true,
    statusSubresource: false,
  };
  const at = path('spec');
  const errors: FieldError[] = schemaErrors(
    spec.validation?.openAPIV3Schema,
    at.child('validation'),
    rules,
  );
  for (const [index, { schema }] of (spec.versions ?? []).entries()) {
    const field = at.child('versions').index(index).child('schema');
    errors.push(...schemaErrors(schema?.openAPIV3Schema, field, rules));
  }
  if (errors.length === 0) return undefined;
  const shown = errors.slice(0, violationsShownMax).map(fieldErrorMessage);
  const message = shown.length === 1 ? shown[0]! : `[${shown.join(', ')}]`;
  return { type: nonStructural, status: 'True', reason: 'Violations', message };
}
