/** Validates the schema of a definition. */
import { type FieldError, type FieldPath, fieldError, Literal } from '@orch/apimachinery';
import type { JSONSchemaProps } from '@orch/types/apiextensions/v1';
import { extensionKey } from '../common/extensions.js';
import { addErrors } from '../common/field-errors.js';
import { defaultErrors } from './default-rules.js';
import { memberErrors } from './schema-member-rules.js';
import type { SchemaRules } from './schema-rules.js';
import { isReadable, structuralErrors } from './structural-rules.js';

export interface SchemaOptions extends SchemaRules {
  /** Objects have a status subresource. */
  readonly statusSubresource: boolean;
}

/** `at`: path of the schema without its last segment, such as `spec.validation`. */
export function schemaErrors(
  schema: JSONSchemaProps | undefined,
  fieldPath: FieldPath,
  options: SchemaOptions,
): FieldError[] {
  if (!schema) return [];
  const field = fieldPath.child('openAPIV3Schema');
  const errors = options.statusSubresource ? rootErrors(schema, field) : [];
  if (schema.nullable) {
    errors.push(
      fieldError.forbidden(field.child('nullable'), 'nullable cannot be true at the root'),
    );
  }
  addErrors(errors, memberErrors(schema, field, options));
  if (!options.requireStructural || !isReadable(schema)) return errors;
  const structural = structuralErrors(schema, field);
  if (structural.length > 0) addErrors(errors, structural);
  else addErrors(errors, defaultErrors(schema, field, options.requirePrunedDefaults));
  return errors;
}

/**
 * Members that keep their meaning when the status is validated on its own, with their upstream
 * names.
 */
const rootMembers: Readonly<Record<string, string>> = {
  description: 'Description',
  type: 'Type',
  format: 'Format',
  title: 'Title',
  maximum: 'Maximum',
  exclusiveMaximum: 'ExclusiveMaximum',
  minimum: 'Minimum',
  exclusiveMinimum: 'ExclusiveMinimum',
  maxLength: 'MaxLength',
  minLength: 'MinLength',
  pattern: 'Pattern',
  maxItems: 'MaxItems',
  minItems: 'MinItems',
  uniqueItems: 'UniqueItems',
  multipleOf: 'MultipleOf',
  required: 'Required',
  items: 'Items',
  properties: 'Properties',
  externalDocs: 'ExternalDocs',
  example: 'Example',
};

/** The first root member that a status subresource forbids. */
function rootErrors(schema: JSONSchemaProps, fieldPath: FieldPath): FieldError[] {
  const preserving = extensionKey('preserveUnknownFields');
  const where = 'at the root of the schema if the status subresource is enabled';
  const isAllowed = (name: string) => Object.hasOwn(rootMembers, name) || name === preserving;
  const before = ['id', '$schema', '$ref'] as const;
  const stray = Object.entries(schema).find(([name, value]) => Boolean(value) && !isAllowed(name));
  if (schema.type && schema.type !== 'object' && !before.some((name) => schema[name])) {
    const detail = `only "object" is allowed as the type ${where}`;
    return [fieldError.invalid(fieldPath.child('type'), schema.type, detail)];
  }
  if (!stray) return [];
  const names = [...Object.values(rootMembers), 'XPreserveUnknownFields'].join(' ');
  const value = new Literal(JSON.stringify(schema));
  return [fieldError.invalid(fieldPath, value, `only [${names}] fields are allowed ${where}`)];
}
