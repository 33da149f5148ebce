/** Validates the members of each schema of a tree. */
import { type FieldError, type FieldPath, fieldError } from '@orch/apimachinery';
import type { JSONSchemaProps } from '@orch/types/apiextensions/v1';
import { extensionKey, extensionsOf } from '../common/extensions.js';
import { addErrors } from '../common/field-errors.js';
import { envelopeMembers } from '../structural/structural.js';
import { listErrors, mapTypeErrors } from './list-rules.js';
import { alternativesOf, hasDefault } from './parts.js';
import type { SchemaRules } from './schema-rules.js';

const types = ['array', 'boolean', 'integer', 'number', 'object', 'string'];

export function hasUnknownType({ type }: JSONSchemaProps): boolean {
  return Boolean(type) && !types.includes(type!);
}

/** The context of a schema in the tree. */
interface SchemaContext {
  readonly isRoot: boolean;
  /** Within apiVersion, kind or metadata of a resource. */
  readonly isInEnvelope: boolean;
  /** Why a default is not allowed here; undefined if it is allowed. */
  readonly defaultForbidden: string | undefined;
}

export function memberErrors(
  schema: JSONSchemaProps,
  fieldPath: FieldPath,
  rules: SchemaRules,
): FieldError[] {
  const { allowDefaults, defaultsForbiddenWhy = '' } = rules;
  const defaultForbidden = allowDefaults ? undefined : defaultsForbiddenWhy;
  return errorsAt(schema, fieldPath, rules, {
    isRoot: true,
    isInEnvelope: false,
    defaultForbidden,
  });
}

function errorsAt(
  schema: JSONSchemaProps,
  fieldPath: FieldPath,
  rules: SchemaRules,
  context: SchemaContext,
): FieldError[] {
  const errors = ownErrors(schema, fieldPath, rules, context);
  for (const [inner, innerAt, innerContext] of innerContexts(schema, fieldPath, context)) {
    addErrors(errors, errorsAt(inner, innerAt, rules, innerContext));
  }
  const { preserveUnknownFields } = extensionsOf(schema);
  if (preserveUnknownFields === false) {
    const field = fieldPath.child(extensionKey('preserveUnknownFields'));
    errors.push(fieldError.invalid(field, false, 'must be true or undefined'));
  }
  addErrors(errors, mapTypeErrors(schema, fieldPath));
  addErrors(errors, listErrors(schema, fieldPath, rules));
  return errors;
}

function innerContexts(
  schema: JSONSchemaProps,
  fieldPath: FieldPath,
  context: SchemaContext,
): [JSONSchemaProps, FieldPath, SchemaContext][] {
  const { additionalProperties: others, items, properties = {} } = schema;
  const found: [JSONSchemaProps, FieldPath, SchemaContext][] = [];
  const within = { ...context, isRoot: false };
  if (typeof others === 'object') {
    const defaultForbidden = context.isInEnvelope
      ? 'inside additionalProperties applying to object metadata'
      : context.defaultForbidden;
    found.push([others, fieldPath.child('additionalProperties'), { ...within, defaultForbidden }]);
  }
  const isResource = context.isRoot || extensionsOf(schema).embeddedResource === true;
  for (const [name, member] of Object.entries(properties)) {
    const field = fieldPath.child('properties').key(name);
    const inner = isResource && envelopeMembers.has(name) ? envelopeContext(context, name) : within;
    found.push([member, field, inner]);
  }
  for (const [part, partAt] of alternativesOf(schema, fieldPath))
    found.push([part, partAt, within]);
  for (const [name, part] of Object.entries(schema.definitions ?? {})) {
    found.push([part, fieldPath.child('definitions').key(name), within]);
  }
  if (Array.isArray(items)) {
    for (const [index, part] of items.entries()) {
      found.push([part, fieldPath.child('items').index(index), within]);
    }
  } else if (items) found.push([items, fieldPath.child('items'), within]);
  for (const [name, part] of Object.entries(schema.dependencies ?? {})) {
    if (!Array.isArray(part)) found.push([part, fieldPath.child('dependencies').key(name), within]);
  }
  return found;
}

function envelopeContext(context: SchemaContext, name: string): SchemaContext {
  const defaultForbidden = context.isRoot ? `in top-level ${name}` : context.defaultForbidden;
  return { isRoot: false, isInEnvelope: true, defaultForbidden };
}

const unsupported = [
  'id',
  'additionalItems',
  'patternProperties',
  'definitions',
  'dependencies',
  '$ref',
] as const satisfies readonly (keyof JSONSchemaProps)[];

/** Unsupported members that are set; empty texts and maps do not count. */
export function unsupportedMembers(schema: JSONSchemaProps): (typeof unsupported)[number][] {
  return unsupported.filter((name) => {
    const value = schema[name];
    if (value === undefined || value === null || value === '') return false;
    const isMap = name === 'patternProperties' || name === 'definitions';
    return !isMap || Object.keys(value).length > 0;
  });
}

function ownErrors(
  schema: JSONSchemaProps,
  fieldPath: FieldPath,
  rules: SchemaRules,
  context: SchemaContext,
): FieldError[] {
  const errors: FieldError[] = [];
  const forbid = (name: string, detail: string) =>
    errors.push(fieldError.forbidden(fieldPath.child(name), detail));
  if (rules.requireValidTypes && hasUnknownType(schema)) {
    errors.push(fieldError.notSupported(fieldPath.child('type'), schema.type, types));
  }
  if (hasDefault(schema) && context.defaultForbidden !== undefined) {
    forbid('default', `must not be set ${context.defaultForbidden}`.trimEnd());
  }
  for (const name of unsupportedMembers(schema)) forbid(name, `${name} is not supported`);
  if (schema.type === 'null') {
    forbid('type', 'type cannot be set to null, use nullable as an alternative');
  }
  if (Array.isArray(schema.items) && schema.items.length > 0) {
    forbid('items', 'items must be a schema object and not an array');
  }
  if (context.isInEnvelope && extensionsOf(schema).embeddedResource) {
    forbid(extensionKey('embeddedResource'), 'must not be used inside of resource meta');
  }
  if (schema.uniqueItems) {
    const why = 'since the runtime complexity becomes quadratic';
    forbid('uniqueItems', `uniqueItems cannot be set to true ${why}`);
  }
  const { additionalProperties: others, properties = {} } = schema;
  const isExclusive = others === false || typeof others === 'object';
  if (isExclusive && Object.keys(properties).length > 0) {
    const detail = 'additionalProperties and properties are mutual exclusive';
    forbid('additionalProperties', detail);
  }
  return errors;
}
