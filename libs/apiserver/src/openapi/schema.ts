/**
 * One API type as a schema of OpenAPI, made from its descriptor; version 2 and 3 differ in where
 * definitions stand, in what may stand beside a reference and in types that are one of several.
 * Internal types have no definition of their own: their schema stands where they are used.
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

export type OpenApiVersion = 2 | 3;

export interface Schema {
  $ref?: string;
  description?: string;
  type?: string;
  format?: string;
  default?: unknown;
  required?: readonly string[];
  items?: Schema;
  additionalProperties?: Schema | boolean;
  properties?: Record<string, Schema>;
  allOf?: readonly Schema[];
  oneOf?: readonly Schema[];
  anyOf?: readonly Schema[];
  not?: Schema;
  nullable?: boolean;
  uniqueItems?: boolean;
  title?: string;
  multipleOf?: number;
  maximum?: number;
  exclusiveMaximum?: boolean;
  minimum?: number;
  exclusiveMinimum?: boolean;
  maxLength?: number;
  minLength?: number;
  pattern?: string;
  maxItems?: number;
  minItems?: number;
  maxProperties?: number;
  minProperties?: number;
  enum?: readonly unknown[];
  [extension: `x-${string}`]: unknown;
}

export interface GroupVersionKind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}

/** Group on the wire and version. */
export type GroupVersion = Omit<GroupVersionKind, 'kind'>;

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

/** What version 2 cannot say. */
const encodedSinceVersion3: Partial<Record<Encoding, Schema>> = {
  quantity: { oneOf: [{ type: 'string' }, { type: 'number' }] },
  intOrString: { oneOf: [{ type: 'integer' }, { type: 'string' }], format: 'int-or-string' },
};

/** Reference to the type's definition, or what stands in its place. */
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
      description: 'What the object is: its kind within the group and version.',
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
