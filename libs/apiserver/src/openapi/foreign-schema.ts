/**
 * Schemas that another server wrote: the members that our documents know, each of the right type.
 * Anything else is left out, so that no server can make a document unreadable for clients. Pure.
 */
import { isJsonObject, type JsonObject } from '@orch/apimachinery';
import { foreignSchemaDepthMax } from './limits.js';
import type { Schema } from './schema-types.js';

const textMembers = ['description', 'format', 'title', 'pattern'] as const;
const numberMembers = [
  'multipleOf',
  'maximum',
  'minimum',
  'maxLength',
  'minLength',
  'maxItems',
  'minItems',
  'maxProperties',
  'minProperties',
] as const;
const flagMembers = ['uniqueItems', 'exclusiveMaximum', 'exclusiveMinimum'] as const;

/** Returns the name for a reference to a definition; undefined: there is no such definition. */
export type DefinitionName = (name: string) => string | undefined;

const definitionPrefix = '#/definitions/';

/** Returns the known members of the schema. */
export function foreignSchema(value: unknown, nameOf: DefinitionName, depth = 0): Schema {
  if (!isJsonObject(value) || depth > foreignSchemaDepthMax) return {};
  const { $ref } = value;
  if (typeof $ref === 'string') return reference($ref, value, nameOf);
  const schema: Schema = { ...plainMembers(value), ...extensions(value) };
  const nested = (inner: unknown) => foreignSchema(inner, nameOf, depth + 1);
  const { items, properties, additionalProperties, allOf } = value;
  if (isJsonObject(items)) schema.items = nested(items);
  if (isJsonObject(properties)) schema.properties = mapValues(properties, nested);
  if (Array.isArray(allOf)) schema.allOf = allOf.map(nested);
  if (typeof additionalProperties === 'boolean') schema.additionalProperties = additionalProperties;
  else if (isJsonObject(additionalProperties)) {
    schema.additionalProperties = nested(additionalProperties);
  }
  return schema;
}

function reference($ref: string, { description }: JsonObject, nameOf: DefinitionName): Schema {
  const name = $ref.startsWith(definitionPrefix) ? $ref.slice(definitionPrefix.length) : '';
  const known = nameOf(name);
  return {
    ...(known !== undefined && { $ref: `${definitionPrefix}${known}` }),
    ...(typeof description === 'string' && { description }),
  };
}

function plainMembers(value: JsonObject): Schema {
  const schema: Schema = {};
  for (const name of textMembers) {
    const member = value[name];
    if (typeof member === 'string') schema[name] = member;
  }
  for (const name of numberMembers) {
    const member = value[name];
    if (typeof member === 'number') schema[name] = member;
  }
  for (const name of flagMembers) {
    const member = value[name];
    if (typeof member === 'boolean') schema[name] = member;
  }
  const { type, required, enum: values, default: fallback } = value;
  if (typeof type === 'string') schema.type = type;
  if (Array.isArray(required)) schema.required = texts(required);
  if (Array.isArray(values)) schema.enum = values;
  if (fallback !== undefined) schema.default = fallback;
  return schema;
}

export function extensions(value: JsonObject): Record<`x-${string}`, unknown> {
  return Object.fromEntries(Object.entries(value).filter(([name]) => name.startsWith('x-')));
}

export function texts(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((text) => typeof text === 'string') : [];
}

export function mapValues<T>(
  object: JsonObject,
  map: (value: unknown, name: string) => T,
): Record<string, T> {
  return Object.fromEntries(
    Object.entries(object).map(([name, value]) => [name, map(value, name)]),
  );
}
