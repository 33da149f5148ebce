/** OpenAPI v3 schemas of the API types, made from their descriptors. */
import {
  type FieldDescriptor,
  schemaFile,
  schemaType,
  type TypeDescriptor,
} from '@orch/apimachinery';
import { dialect } from '@orch/component';

export type Schema = Readonly<Record<string, unknown>>;

/** Forms that do not follow from the fields. */
const encodedForms: Readonly<Record<string, Schema>> = {
  time: { type: 'string', format: 'date-time' },
  microTime: { type: 'string', format: 'date-time' },
  duration: { type: 'string' },
  quantity: { oneOf: [{ type: 'string' }, { type: 'number' }] },
  intOrString: { format: 'int-or-string', oneOf: [{ type: 'integer' }, { type: 'string' }] },
  rawExtension: { type: 'object' },
  fieldsV1: { type: 'object' },
  stringList: { type: 'array', items: { type: 'string' } },
  unknownEnvelope: { type: 'object' },
};

const scalarForms: Readonly<Record<string, Schema>> = {
  string: { type: 'string' },
  bool: { type: 'boolean' },
  int32: { type: 'integer', format: 'int32' },
  int64: { type: 'integer', format: 'int64' },
  double: { type: 'number', format: 'double' },
  bytes: { type: 'string', format: 'byte' },
  any: {},
};

function split(name: string): { file: string; type: string } {
  const at = name.lastIndexOf('.');
  return { file: name.slice(0, at), type: name.slice(at + 1) };
}

/** `io.<brand>.api.core.v1.Pod` */
export function modelName(name: string): string {
  const { file, type } = split(name);
  return `${dialect().openapiPrefix}${schemaFile(file).openapiPackage ?? file}.${type}`;
}

export function referenceTo(name: string): Schema {
  return { $ref: `#/components/schemas/${modelName(name)}` };
}

/** Adds the schema of a type and of every type it refers to. */
export function addModel(models: Map<string, Schema>, name: string): void {
  const model = modelName(name);
  if (models.has(model)) return;
  const descriptor = schemaType(name);
  models.set(model, {});
  models.set(model, typeSchema(models, name, descriptor));
}

function typeSchema(models: Map<string, Schema>, name: string, descriptor: TypeDescriptor): Schema {
  const { description, encoding } = descriptor;
  const described = description === undefined ? {} : { description };
  if (encoding) return { ...described, ...(encodedForms[encoding] ?? {}) };
  const properties: Record<string, Schema> = {};
  const required: string[] = [];
  if (descriptor.typeMeta) {
    properties.apiVersion = { type: 'string' };
    properties.kind = { type: 'string' };
  }
  addProperties(models, descriptor, properties, required);
  return {
    ...described,
    type: 'object',
    ...(required.length > 0 && { required }),
    ...(Object.keys(properties).length > 0 && { properties }),
    ...groupVersionKinds(name, descriptor),
  };
}

function groupVersionKinds(name: string, descriptor: TypeDescriptor): Schema {
  if (!descriptor.typeMeta) return {};
  const { file, type } = split(name);
  const { group, version } = schemaFile(file);
  if (group === undefined || version === undefined) return {};
  const own = { group: dialect().group(descriptor.kind?.group ?? group), version, kind: type };
  return { [dialect().extension('group-version-kind')]: [own] };
}

function addProperties(
  models: Map<string, Schema>,
  descriptor: TypeDescriptor,
  properties: Record<string, Schema>,
  required: string[],
): void {
  for (const field of descriptor.fields) {
    if (field.inline && field.ref) {
      addProperties(models, schemaType(field.ref), properties, required);
      continue;
    }
    properties[field.name] = fieldSchema(models, field);
    if (field.required) required.push(field.name);
  }
}

function fieldSchema(models: Map<string, Schema>, field: FieldDescriptor): Schema {
  const element = elementSchema(models, field);
  const described = field.description === undefined ? {} : { description: field.description };
  if (field.cardinality === 'list') {
    return { ...described, type: 'array', items: element, ...mergeExtensions(field) };
  }
  if (field.cardinality === 'map') {
    return {
      ...described,
      type: 'object',
      additionalProperties: element,
      ...mergeExtensions(field),
    };
  }
  const extensions = mergeExtensions(field);
  if (field.kind !== 'message') return { ...described, ...element, ...extensions };
  return { ...described, allOf: [element], ...extensions };
}

function elementSchema(models: Map<string, Schema>, field: FieldDescriptor): Schema {
  if (field.kind !== 'message' || field.ref === undefined) return scalarForms[field.kind] ?? {};
  addModel(models, field.ref);
  return referenceTo(field.ref);
}

function mergeExtensions(field: FieldDescriptor): Schema {
  const extension = (name: string) => dialect().extension(name);
  return {
    ...(field.listType && { [extension('list-type')]: field.listType }),
    ...(field.listMapKeys && { [extension('list-map-keys')]: field.listMapKeys }),
    ...(field.mapType && { [extension('map-type')]: field.mapType }),
    ...(field.mergeStrategy && { [extension('patch-strategy')]: field.mergeStrategy }),
    ...(field.mergeKey && { [extension('patch-merge-key')]: field.mergeKey }),
  };
}
