/**
 * Validates schemas in conditions: they may only constrain values, and recursively those of members
 * and elements.
 */
import { type FieldError, type FieldPath, fieldError } from '@orch/apimachinery';
import type { JSONSchemaProps } from '@orch/types/apiextensions/v1';
import {
  type Extensions,
  extensionKey,
  extensionNames,
  extensionsOf,
} from '../common/extensions.js';
import { addErrors } from '../common/field-errors.js';
import { patternFault } from '../values/pattern.js';
import { alternativesOf, hasDefault } from './parts.js';

/** `anyOf: [{type: integer}, {type: string}]`, and nothing else. */
export function isIntOrStringChoice(parts: readonly JSONSchemaProps[] | undefined): boolean {
  if (parts?.length !== 2) return false;
  return ['integer', 'string'].every((type, index) => {
    const part = parts[index]!;
    return (
      part.type === type && Object.values(part).filter((value) => value !== undefined).length === 1
    );
  });
}

export function patternErrors({ pattern }: JSONSchemaProps, fieldPath: FieldPath): FieldError[] {
  const fault = pattern ? patternFault(pattern) : undefined;
  if (fault === undefined) return [];
  const detail = `must be a valid regular expression, but isn't: ${fault}`;
  return [fieldError.invalid(fieldPath.child('pattern'), pattern, detail)];
}

/** `mayChoose`: the choice between integer and string is allowed here. */
export function conditionErrors(
  schema: JSONSchemaProps,
  fieldPath: FieldPath,
  mayChoose: boolean,
): FieldError[] {
  const errors: FieldError[] = [];
  const { items, properties = {} } = schema;
  for (const [part, partAt] of alternativesOf(schema, fieldPath)) {
    if (mayChoose && schema.anyOf?.includes(part)) continue;
    addErrors(errors, conditionErrors(part, partAt, false));
  }
  addErrors(errors, patternErrors(schema, fieldPath));
  if (items && !Array.isArray(items)) {
    addErrors(errors, conditionErrors(items, fieldPath.child('items'), false));
  }
  for (const [name, member] of Object.entries(properties)) {
    addErrors(errors, conditionErrors(member, fieldPath.child('properties').key(name), false));
  }
  for (const [name, detail] of forbiddenMembers(schema)) {
    errors.push(fieldError.forbidden(fieldPath.child(name), `${detail} to be structural`));
  }
  if (Object.hasOwn(properties, 'metadata')) {
    const field = fieldPath.child('properties').key('metadata');
    errors.push(fieldError.forbidden(field, 'must not be specified in a nested context'));
  }
  return errors;
}

const extensionDetails: Record<keyof Extensions, string> = {
  preserveUnknownFields: 'must be false',
  embeddedResource: 'must be false',
  intOrString: 'must be false',
  listMapKeys: 'must be empty',
  listType: 'must be undefined',
  mapType: 'must be undefined',
};

function forbiddenMembers(schema: JSONSchemaProps): [string, string][] {
  const found: [string, string][] = [];
  if (schema.type) found.push(['type', 'must be empty']);
  if (schema.additionalProperties !== undefined) {
    found.push(['additionalProperties', 'must be undefined']);
  }
  if (hasDefault(schema)) found.push(['default', 'must be undefined']);
  if (schema.title) found.push(['title', 'must be empty']);
  if (schema.description) found.push(['description', 'must be empty']);
  if (schema.nullable) found.push(['nullable', 'must be false']);
  const extensions = extensionsOf(schema);
  for (const name of extensionNames) {
    const value = extensions[name];
    const isSet = Array.isArray(value) ? value.length > 0 : value !== undefined && value !== false;
    if (isSet) found.push([extensionKey(name), extensionDetails[name]]);
  }
  return found;
}
