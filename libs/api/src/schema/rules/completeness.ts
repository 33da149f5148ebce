/** Fields that a condition names must also be specified outside the conditions. */
import { type FieldError, type FieldPath, fieldError } from '@orch/apimachinery';
import type { JSONSchemaProps } from '@orch/types/apiextensions/v1';
import { addErrors } from '../common/field-errors.js';
import { alternativesOf } from './parts.js';

export function completenessErrors(schema: JSONSchemaProps, fieldPath: FieldPath): FieldError[] {
  return alternativesOf(schema, fieldPath).flatMap(([part, partAt]) =>
    conditionCompleteness(part, schema, fieldPath, partAt),
  );
}

/** `outer`: the schema at the same path outside the conditions. */
function conditionCompleteness(
  condition: JSONSchemaProps,
  outer: JSONSchemaProps | undefined,
  outerAt: FieldPath,
  fieldPath: FieldPath,
): FieldError[] {
  if (!outer) return [fieldError.required(outerAt, `because it is defined in ${fieldPath}`)];
  const errors = alternativesOf(condition, fieldPath).flatMap(([part, partAt]) =>
    conditionCompleteness(part, outer, outerAt, partAt),
  );
  const { items, properties = {} } = condition;
  if (items && !Array.isArray(items)) {
    const outerItems = Array.isArray(outer.items) ? undefined : outer.items;
    const field = outerAt.child('items');
    addErrors(errors, conditionCompleteness(items, outerItems, field, fieldPath.child('items')));
  }
  for (const [name, member] of Object.entries(properties)) {
    const known = outer.properties ?? {};
    const outerMember = Object.hasOwn(known, name) ? known[name] : undefined;
    const [field, innerAt] = [outerAt, fieldPath].map((base) => base.child('properties').key(name));
    addErrors(errors, conditionCompleteness(member, outerMember, field!, innerAt!));
  }
  return errors;
}
