/**
 * Converts a schema to its published form. OpenAPI version 2 has neither alternatives nor nullable
 * values, and its clients reject unknown keywords; the version 2 form therefore allows more, never
 * less.
 */
import { type Json, type JsonObject, membersOf } from '@orch/apimachinery';
import type { JSONSchemaProps } from '@orch/types/apiextensions/v1';
import { extensionsOf, publishedExtensions } from './common/extensions.js';

export type OpenApiVersion = 2 | 3;

/** Schemas of the members that every object has. */
export interface EnvelopeSchemas {
  readonly apiVersion: JsonObject;
  readonly kind: JsonObject;
  readonly metadata: JsonObject;
}

const plainMembers = [
  'description',
  'type',
  'format',
  'title',
  'default',
  'maximum',
  'exclusiveMaximum',
  'minimum',
  'exclusiveMinimum',
  'maxLength',
  'minLength',
  'pattern',
  'maxItems',
  'minItems',
  'uniqueItems',
  'multipleOf',
  'enum',
  'maxProperties',
  'minProperties',
] as const satisfies readonly (keyof JSONSchemaProps)[];

/** The published schema of a whole object. */
export function publishedResource(
  schema: JSONSchemaProps | undefined,
  version: OpenApiVersion,
  preserveUnknownFields: boolean,
  envelope: EnvelopeSchemas,
): JsonObject {
  const keepsUnknown =
    preserveUnknownFields || (schema && extensionsOf(schema).preserveUnknownFields === true);
  if (!schema || (version === 2 && keepsUnknown)) return { type: 'object' };
  const published = publishedSchema(schema, version, envelope);
  published.properties = { ...membersOf(published.properties), ...envelope };
  return published;
}

function publishedSchema(
  schema: JSONSchemaProps,
  version: OpenApiVersion,
  envelope: EnvelopeSchemas,
): JsonObject {
  const extensions = extensionsOf(schema);
  const published: JsonObject = {};
  for (const name of plainMembers) {
    const value = schema[name];
    if (value !== undefined && value !== null && value !== false) published[name] = value as Json;
  }
  for (const [key, value] of publishedExtensions(extensions)) published[key] = value as Json;
  const inner = (part: JSONSchemaProps) => publishedSchema(part, version, envelope);
  addStructure(published, schema, inner);
  if (version === 3) addAlternatives(published, schema, inner);
  else loosen(published, schema);
  const isOpen = version === 2 && extensions.preserveUnknownFields === true;
  if (extensions.embeddedResource && !isOpen) addEnvelope(published, envelope);
  return published;
}

type Inner = (part: JSONSchemaProps) => JsonObject;

function addStructure(published: JsonObject, schema: JSONSchemaProps, inner: Inner): void {
  const { items, properties, additionalProperties, required = [] } = schema;
  if (required.length > 0) published.required = [...required];
  if (items && !Array.isArray(items)) published.items = inner(items);
  if (properties && Object.keys(properties).length > 0)
    published.properties = each(properties, inner);
  if (typeof additionalProperties === 'object') {
    published.additionalProperties = inner(additionalProperties);
  } else if (additionalProperties !== undefined) {
    published.additionalProperties = additionalProperties;
  }
}

function each(properties: Readonly<Record<string, JSONSchemaProps>>, inner: Inner): JsonObject {
  return Object.fromEntries(Object.entries(properties).map(([name, part]) => [name, inner(part)]));
}

function addAlternatives(published: JsonObject, schema: JSONSchemaProps, inner: Inner): void {
  if (schema.nullable) published.nullable = true;
  for (const name of ['allOf', 'anyOf', 'oneOf'] as const) {
    const parts = schema[name];
    if (parts && parts.length > 0) published[name] = parts.map(inner);
  }
  if (schema.not) published.not = inner(schema.not);
}

/** Removes constraints that would make version 2 clients reject valid values. */
function loosen(published: JsonObject, schema: JSONSchemaProps): void {
  const keepsUnknown = extensionsOf(schema).preserveUnknownFields === true;
  if (schema.nullable) delete published.type;
  if (schema.nullable || keepsUnknown) {
    delete published.items;
    delete published.properties;
  }
  if (published.type === 'array' && published.items === undefined) delete published.type;
  if (published.type === 'object' && keepsUnknown) delete published.type;
  const { properties = {}, additionalProperties: others, required = [] } = schema;
  const needed = required.filter((name) => !properties[name]?.nullable);
  const isAnyNullable = typeof others === 'object' && others.nullable === true;
  if (needed.length === 0 || isAnyNullable) delete published.required;
  else published.required = needed;
}

function addEnvelope(published: JsonObject, envelope: EnvelopeSchemas): void {
  published.properties = { ...membersOf(published.properties), ...envelope };
  const required = new Set([...((published.required as string[]) ?? []), 'kind', 'apiVersion']);
  published.required = [...required];
}
