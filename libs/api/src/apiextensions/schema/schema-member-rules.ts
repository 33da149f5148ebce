/** What each schema of a tree may say, wherever it stands. */
import { type FieldError, type FieldPath, fieldError } from '@orch/apimachinery';
import type { JSONSchemaProps } from '@orch/types/apiextensions/v1';
import { extensionKey, extensionsOf } from './extensions.js';
import { addErrors } from './field-errors.js';
import { listErrors, mapTypeErrors } from './list-rules.js';
import { alternativesOf, hasDefault } from './parts.js';
import type { SchemaRules } from './schema-rules.js';
import { envelopeMembers } from './structural.js';

const types = ['array', 'boolean', 'integer', 'number', 'object', 'string'];

export function hasUnknownType({ type }: JSONSchemaProps): boolean {
  return Boolean(type) && !types.includes(type!);
}

/** Where a schema stands. */
interface Place {
  readonly isRoot: boolean;
  /** Within apiVersion, kind or metadata of a resource. */
  readonly isInEnvelope: boolean;
  /** Why there may be no default here; undefined: there may be. */
  readonly defaultForbidden: string | undefined;
}

export function memberErrors(
  schema: JSONSchemaProps,
  at: FieldPath,
  rules: SchemaRules,
): FieldError[] {
  const { allowDefaults, defaultsForbiddenWhy = '' } = rules;
  const defaultForbidden = allowDefaults ? undefined : defaultsForbiddenWhy;
  return errorsAt(schema, at, rules, { isRoot: true, isInEnvelope: false, defaultForbidden });
}

function errorsAt(
  schema: JSONSchemaProps,
  at: FieldPath,
  rules: SchemaRules,
  place: Place,
): FieldError[] {
  const errors = ownErrors(schema, at, rules, place);
  for (const [inner, innerAt, innerPlace] of innerPlaces(schema, at, place)) {
    addErrors(errors, errorsAt(inner, innerAt, rules, innerPlace));
  }
  const { preserveUnknownFields } = extensionsOf(schema);
  if (preserveUnknownFields === false) {
    const field = at.child(extensionKey('preserveUnknownFields'));
    errors.push(fieldError.invalid(field, false, 'must be true or undefined'));
  }
  addErrors(errors, mapTypeErrors(schema, at));
  addErrors(errors, listErrors(schema, at, rules));
  return errors;
}

function innerPlaces(
  schema: JSONSchemaProps,
  at: FieldPath,
  place: Place,
): [JSONSchemaProps, FieldPath, Place][] {
  const { additionalProperties: others, items, properties = {} } = schema;
  const found: [JSONSchemaProps, FieldPath, Place][] = [];
  const within = { ...place, isRoot: false };
  if (typeof others === 'object') {
    const defaultForbidden = place.isInEnvelope
      ? 'inside additionalProperties applying to object metadata'
      : place.defaultForbidden;
    found.push([others, at.child('additionalProperties'), { ...within, defaultForbidden }]);
  }
  const isResource = place.isRoot || extensionsOf(schema).embeddedResource === true;
  for (const [name, member] of Object.entries(properties)) {
    const field = at.child('properties').key(name);
    const inner = isResource && envelopeMembers.has(name) ? envelopePlace(place, name) : within;
    found.push([member, field, inner]);
  }
  for (const [part, partAt] of alternativesOf(schema, at)) found.push([part, partAt, within]);
  for (const [name, part] of Object.entries(schema.definitions ?? {})) {
    found.push([part, at.child('definitions').key(name), within]);
  }
  if (Array.isArray(items)) {
    for (const [index, part] of items.entries()) {
      found.push([part, at.child('items').index(index), within]);
    }
  } else if (items) found.push([items, at.child('items'), within]);
  for (const [name, part] of Object.entries(schema.dependencies ?? {})) {
    if (!Array.isArray(part)) found.push([part, at.child('dependencies').key(name), within]);
  }
  return found;
}

function envelopePlace(place: Place, name: string): Place {
  const defaultForbidden = place.isRoot ? `in top-level ${name}` : place.defaultForbidden;
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

/** Members that say something; an empty text or map says nothing. */
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
  at: FieldPath,
  rules: SchemaRules,
  place: Place,
): FieldError[] {
  const errors: FieldError[] = [];
  const forbid = (name: string, detail: string) =>
    errors.push(fieldError.forbidden(at.child(name), detail));
  if (rules.requireValidTypes && hasUnknownType(schema)) {
    errors.push(fieldError.notSupported(at.child('type'), schema.type, types));
  }
  if (hasDefault(schema) && place.defaultForbidden !== undefined) {
    forbid('default', `must not be set ${place.defaultForbidden}`.trimEnd());
  }
  for (const name of unsupportedMembers(schema)) forbid(name, `${name} is not supported`);
  if (schema.type === 'null') {
    forbid('type', 'type cannot be set to null, use nullable as an alternative');
  }
  if (Array.isArray(schema.items) && schema.items.length > 0) {
    forbid('items', 'items must be a schema object and not an array');
  }
  if (place.isInEnvelope && extensionsOf(schema).embeddedResource) {
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
