/**
 * The OpenAPI schema of an API type, from its descriptor. Versions 2 and 3 differ in the location
 * of definitions, in siblings of references and in unions. Internal types have no definition: their
 * schema is inlined.
 */
import {
  type Encoding,
  type FieldDescriptor,
  schemaFile,
  schemaType,
  type TypeDescriptor,
  type TypeName,
} from '@orch/apimachinery';
import { dialect } from '@orch/component';
import { describeField, describeType } from './descriptions.js';
import { modelName, partsOf } from './models.js';
import type { GroupVersion, GroupVersionKind, OpenApiVersion, Schema } from './schema-types.js';

const string: Schema = { type: 'string' };

const scalars: Readonly<Record<Exclude<FieldDescriptor['kind'], 'message'>, Schema>> = {
  string,
  bool: { type: 'boolean' },
  int32: { type: 'integer', format: 'int32' },
  int64: { type: 'integer', format: 'int64' },
  double: { type: 'number', format: 'double' },
  bytes: { type: 'string', format: 'byte' },
  any: {},
};

const encoded: Readonly<Record<Encoding, Schema>> = {
  time: { type: 'string', format: 'date-time' },
  microTime: { type: 'string', format: 'date-time' },
  duration: string,
  quantity: string,
  intOrString: { type: 'string', format: 'int-or-string' },
  rawExtension: { type: 'object' },
  fieldsV1: { type: 'object' },
  anyJson: {},
  stringList: { type: 'array', items: string },
  schemaOrArray: {},
  schemaOrBool: {},
  schemaOrStringArray: {},
  unknownEnvelope: { type: 'object' },
};

/** Encodings that version 2 cannot describe. */
const encodedSinceVersion3: Partial<Record<Encoding, Schema>> = {
  quantity: { oneOf: [{ type: 'string' }, { type: 'number' }] },
  intOrString: { oneOf: [{ type: 'integer' }, { type: 'string' }], format: 'int-or-string' },
};

/** A reference to the type's definition, or its inlined schema. */
export function referenceTo(version: OpenApiVersion, name: TypeName): Schema {
  const model = modelName(name);
  if (model === undefined) return typeSchema(version, name, []);
  return { $ref: `${version === 2 ? '#/definitions/' : '#/components/schemas/'}${model}` };
}

/** The definition of a type. `everywhere`: group versions of kinds that all groups have. */
export function typeSchema(
  version: OpenApiVersion,
  name: TypeName,
  everywhere: readonly GroupVersion[],
): Schema {
  const descriptor = schemaType(name);
  const description = describeType(name);
  const schema: Schema = { ...(description !== undefined && { description }) };
  if (descriptor.encoding) {
    const later = version === 3 ? encodedSinceVersion3[descriptor.encoding] : undefined;
    return Object.assign(schema, later ?? encoded[descriptor.encoding]);
  }
  schema.type = 'object';
  const { properties, required } = members(version, name);
  if (Object.keys(properties).length > 0) schema.properties = properties;
  if (required.length > 0) schema.required = required.sort();
  const names = dialect();
  const kinds = kindsOf(name, everywhere);
  if (kinds.length > 0) schema[extension('group-version-kind')] = kinds;
  if (descriptor.structType) schema[extension('map-type')] = descriptor.structType;
  if (descriptor.unions) schema[extension('unions')] = descriptor.unions.map(unionSchema);
  return schema;

  function extension(what: string): `x-${string}` {
    return names.extension(what) as `x-${string}`;
  }
}

function unionSchema({ discriminator, members }: NonNullable<TypeDescriptor['unions']>[number]) {
  const fields = members.map(({ field, value }) => [field, value]);
  return { discriminator, 'fields-to-discriminateBy': Object.fromEntries(fields) };
}

/** Group, version and kind under which objects of the type name themselves. */
export function kindsOf(name: TypeName, everywhere: readonly GroupVersion[]): GroupVersionKind[] {
  const { file, type } = partsOf(name);
  const { group, version } = schemaFile(file);
  const { kind } = schemaType(name);
  if (!kind || group === undefined || version === undefined) return [];
  if (kind.everywhere) return everywhere.map((one) => ({ ...one, kind: type }));
  return [{ group: dialect().group(kind.group ?? group), kind: type, version }];
}

interface Members {
  readonly properties: Record<string, Schema>;
  readonly required: string[];
}

function members(version: OpenApiVersion, name: TypeName): Members {
  const descriptor = schemaType(name);
  const properties: Record<string, Schema> = {};
  const required: string[] = [];
  if (descriptor.typeMeta) {
    properties.apiVersion = {
      description: 'Group and version of the API in which the object is written.',
      type: 'string',
    };
    properties.kind = {
      description: 'Kind of the object within its group and version.',
      type: 'string',
    };
  }
  for (const field of descriptor.fields) {
    if (field.inline && field.ref !== undefined) {
      const inlined = members(version, field.ref);
      Object.assign(properties, inlined.properties);
      required.push(...inlined.required);
      continue;
    }
    properties[field.name] = fieldSchema(version, name, field);
    if (field.required) required.push(field.name);
  }
  return { properties, required };
}

function fieldSchema(version: OpenApiVersion, owner: TypeName, field: FieldDescriptor): Schema {
  const text = describeField(owner, field);
  const description = text !== undefined && { description: text };
  const extensions = fieldExtensions(field);
  const value = valueSchema(version, field);
  const fallback = version === 3 ? defaultOf(field) : {};
  if (value.$ref === undefined || version === 2) {
    return { ...value, ...description, ...fallback, ...extensions };
  }
  return { allOf: [value], ...description, ...fallback, ...extensions };
}

function valueSchema(version: OpenApiVersion, field: FieldDescriptor): Schema {
  const element = elementSchema(version, field);
  if (field.cardinality === 'list') return { type: 'array', items: element };
  if (field.cardinality === 'map') return { type: 'object', additionalProperties: element };
  return element;
}

function elementSchema(version: OpenApiVersion, { kind, ref }: FieldDescriptor): Schema {
  if (ref !== undefined) return referenceTo(version, ref);
  if (kind === 'message') throw new Error('a message field without a type');
  return scalars[kind];
}

function defaultOf({ default: text, kind, cardinality, ref }: FieldDescriptor): Schema {
  if (text === undefined) return {};
  const isText = kind === 'string' && cardinality === undefined && ref === undefined;
  return { default: isText ? text : (JSON.parse(text) as unknown) };
}

function fieldExtensions(field: FieldDescriptor): Schema {
  const extensions: Schema = {};
  const set = (name: string, value: unknown) => {
    if (value !== undefined) extensions[dialect().extension(name) as `x-${string}`] = value;
  };
  set('patch-merge-key', field.mergeKey);
  set('patch-strategy', field.mergeStrategy);
  set('list-type', field.listType);
  set('list-map-keys', field.listMapKeys);
  set('map-type', field.mapType ?? field.structType);
  return extensions;
}
