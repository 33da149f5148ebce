/** What is named under a condition must be specified outside of conditions as well. */
import { type FieldError, type FieldPath, fieldError } from '@orch/apimachinery';
import type { JSONSchemaProps } from '@orch/types/apiextensions/v1';
import { addErrors } from './field-errors.js';
import { alternativesOf } from './parts.js';

export function completenessErrors(schema: JSONSchemaProps, at: FieldPath): FieldError[] {
  return alternativesOf(schema, at).flatMap(([part, partAt]) =>
    conditionCompleteness(part, schema, at, partAt),
  );
}

/** `outer`: the same place outside of conditions. */
function conditionCompleteness(
  condition: JSONSchemaProps,
  outer: JSONSchemaProps | undefined,
  outerAt: FieldPath,
  at: FieldPath,
): FieldError[] {
  if (!outer) return [fieldError.required(outerAt, `because it is defined in ${at}`)];
  const errors = alternativesOf(condition, at).flatMap(([part, partAt]) =>
    conditionCompleteness(part, outer, outerAt, partAt),
  );
  const { items, properties = {} } = condition;
  if (items && !Array.isArray(items)) {
    const outerItems = Array.isArray(outer.items) ? undefined : outer.items;
    const field = outerAt.child('items');
    addErrors(errors, conditionCompleteness(items, outerItems, field, at.child('items')));
  }
  for (const [name, member] of Object.entries(properties)) {
    const known = outer.properties ?? {};
    const outerMember = Object.hasOwn(known, name) ? known[name] : undefined;
    const [field, innerAt] = [outerAt, at].map((one) => one.child('properties').key(name));
    addErrors(errors, conditionCompleteness(member, outerMember, field!, innerAt!));
  }
  return errors;
}
