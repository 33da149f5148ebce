/**
 * Validates that a schema is structural: every value has a type outside the conditions, and
 * conditions only constrain values.
 */
import {
  type FieldError,
  type FieldPath,
  fieldError,
  fieldErrorMessage,
  path,
} from '@orch/apimachinery';
import type { JSONSchemaProps } from '@orch/types/apiextensions/v1';
import { extensionKey, extensionsOf } from '../common/extensions.js';
import { addErrors } from '../common/field-errors.js';
import { completenessErrors } from './completeness.js';
import { conditionErrors, isIntOrStringChoice, patternErrors } from './condition-rules.js';
import { alternativesOf, someSchema } from './parts.js';
import { unsupportedMembers } from './schema-member-rules.js';

type Level = 'root' | 'item' | 'field';

const typeMissing: Record<Level, string> = {
  root: 'must not be empty at the root',
  item: 'must not be empty for specified array items',
  field: 'must not be empty for specified object fields',
};

/**
 * Reports whether the schema can be read as a structural one; if not, other rules report the
 * reason.
 */
export function isReadable(schema: JSONSchemaProps): boolean {
  return !someSchema(
    schema,
    (inner) =>
      unsupportedMembers(inner).length > 0 ||
      (Array.isArray(inner.items) && inner.items.length > 0) ||
      extensionsOf(inner).preserveUnknownFields === false,
  );
}

export function isStructural(schema: JSONSchemaProps): boolean {
  return isReadable(schema) && structuralErrors(schema, path()).length === 0;
}

/** Sorted by message. */
export function structuralErrors(schema: JSONSchemaProps, fieldPath: FieldPath): FieldError[] {
  const errors = [
    ...placeErrors(schema, 'root', fieldPath),
    ...completenessErrors(schema, fieldPath),
  ];
  return errors
    .map((error) => ({ error, message: fieldErrorMessage(error) }))
    .sort((a, b) => (a.message < b.message ? -1 : a.message > b.message ? 1 : 0))
    .map(({ error }) => error);
}

function placeErrors(schema: JSONSchemaProps, level: Level, fieldPath: FieldPath): FieldError[] {
  const { items, additionalProperties: others, properties = {} } = schema;
  const errors: FieldError[] = [];
  const itemsField = fieldPath.child('items');
  if (items && !Array.isArray(items)) addErrors(errors, placeErrors(items, 'item', itemsField));
  else if (schema.type === 'array')
    errors.push(fieldError.required(itemsField, 'must be specified'));
  for (const [name, member] of Object.entries(properties)) {
    addErrors(errors, placeErrors(member, 'field', fieldPath.child('properties').key(name)));
  }
  const othersField = fieldPath.child('additionalProperties');
  if (others !== undefined && level === 'root') {
    errors.push(fieldError.forbidden(othersField, 'must not be used at the root'));
  }
  if (typeof others === 'object') addErrors(errors, placeErrors(others, 'field', othersField));
  addErrors(errors, [
    ...extensionErrors(schema, fieldPath),
    ...alternativeErrors(schema, fieldPath),
    ...patternErrors(schema, fieldPath),
    ...typeErrors(schema, level, fieldPath),
    ...envelopeErrors(schema, level, fieldPath),
  ]);
  return errors;
}

/** The choice between integer and string may have types. */
function alternativeErrors(schema: JSONSchemaProps, fieldPath: FieldPath): FieldError[] {
  const isChoice = isIntOrStringChoice(schema.anyOf);
  const inFirst = isIntOrStringChoice(schema.allOf?.[0]?.anyOf);
  return alternativesOf(schema, fieldPath).flatMap(([part, partAt]) => {
    if (isChoice && schema.anyOf!.includes(part)) return [];
    return conditionErrors(part, partAt, inFirst && part === schema.allOf?.[0]);
  });
}

function extensionErrors(schema: JSONSchemaProps, fieldPath: FieldPath): FieldError[] {
  const extensions = extensionsOf(schema);
  if (!extensions.intOrString) return [];
  const detail = `must be false if ${extensionKey('intOrString')} is true`;
  return (['preserveUnknownFields', 'embeddedResource'] as const)
    .filter((name) => extensions[name])
    .map((name) => fieldError.invalid(fieldPath.child(extensionKey(name)), true, detail));
}

function typeErrors(schema: JSONSchemaProps, level: Level, fieldPath: FieldPath): FieldError[] {
  const { type } = schema;
  const { embeddedResource, intOrString, preserveUnknownFields } = extensionsOf(schema);
  const field = fieldPath.child('type');
  const errors: FieldError[] = [];
  if (embeddedResource && type !== 'object') {
    const detail = `must be object if ${extensionKey('embeddedResource')} is true`;
    errors.push(
      type ? fieldError.invalid(field, type, detail) : fieldError.required(field, detail),
    );
  } else if (!type && !intOrString && !preserveUnknownFields) {
    errors.push(fieldError.required(field, typeMissing[level]));
  }
  if (level === 'root' && type && type !== 'object') {
    errors.push(fieldError.invalid(field, type, 'must be object at the root'));
  }
  return errors;
}

/** Validates the schemas of apiVersion, kind and metadata. */
function envelopeErrors(schema: JSONSchemaProps, level: Level, fieldPath: FieldPath): FieldError[] {
  const { embeddedResource, preserveUnknownFields } = extensionsOf(schema);
  const { additionalProperties: others, properties = {} } = schema;
  const errors: FieldError[] = [];
  const member = (name: string) => fieldPath.child('properties').key(name);
  if (embeddedResource && others !== undefined) {
    const detail = `must not be used if ${extensionKey('embeddedResource')} is set`;
    errors.push(fieldError.forbidden(fieldPath.child('additionalProperties'), detail));
  }
  if (level === 'root' || embeddedResource) {
    for (const [name, type] of envelopeTypes) {
      const schemaOfMember = properties[name];
      if (!schemaOfMember || schemaOfMember.type === type) continue;
      const found = schemaOfMember.type ?? '';
      errors.push(fieldError.invalid(member(name).child('type'), found, `must be ${type}`));
    }
  }
  const { metadata } = properties;
  if (level === 'root' && metadata && !isNameRule(metadata)) {
    const detail =
      'must not specify anything other than name and generateName, but metadata is implicitly specified';
    errors.push(fieldError.forbidden(member('metadata'), detail));
  }
  if (embeddedResource && !preserveUnknownFields && Object.keys(properties).length === 0) {
    const resource = extensionKey('embeddedResource');
    const detail = `must not be empty if ${resource} is true without ${extensionKey('preserveUnknownFields')}`;
    errors.push(fieldError.required(fieldPath.child('properties'), detail));
  }
  return errors;
}

const envelopeTypes = [
  ['kind', 'string'],
  ['apiVersion', 'string'],
  ['metadata', 'object'],
] as const;

const ofNoConsequence = new Set(['type', 'default', 'externalDocs', 'example', '$schema']);

/** Reports whether a schema of metadata only constrains names. */
function isNameRule(schema: JSONSchemaProps): boolean {
  return Object.entries(schema).every(([name, value]) => {
    if (ofNoConsequence.has(name) || !saysSomething(value)) return true;
    if (name !== 'properties') return false;
    return Object.keys(value).every((key) => key === 'name' || key === 'generateName');
  });
}

function saysSomething(value: unknown): boolean {
  if (value === undefined || value === null || value === false || value === '') return false;
  return !Array.isArray(value) || value.length > 0;
}
