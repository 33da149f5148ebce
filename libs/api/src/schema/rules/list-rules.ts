/** Validates list and map types, and the keys of keyed lists. */
import { type FieldError, type FieldPath, fieldError } from '@orch/apimachinery';
import type { JSONSchemaProps } from '@orch/types/apiextensions/v1';
import { extensionKey, extensionsOf } from '../common/extensions.js';
import { addErrors } from '../common/field-errors.js';
import { hasDefault } from './parts.js';
import type { SchemaRules } from './schema-rules.js';

/** The schema of all elements, if there is only one. */
function elementOf({ items }: JSONSchemaProps): JSONSchemaProps | undefined {
  return items && !Array.isArray(items) ? items : undefined;
}

function typeErrors(schema: JSONSchemaProps, fieldPath: FieldPath, type: string, key: string) {
  if (schema.type === type) return [];
  const detail = `must be ${type} if ${key} is specified`;
  const field = fieldPath.child('type');
  return [
    schema.type
      ? fieldError.invalid(field, schema.type, detail)
      : fieldError.required(field, detail),
  ];
}

export function mapTypeErrors(schema: JSONSchemaProps, fieldPath: FieldPath): FieldError[] {
  const { mapType } = extensionsOf(schema);
  if (mapType === undefined) return [];
  const key = extensionKey('mapType');
  const known = ['atomic', 'granular'];
  const errors = typeErrors(schema, fieldPath, 'object', key);
  if (!known.includes(mapType)) {
    errors.push(fieldError.notSupported(fieldPath.child(key), mapType, known));
  }
  return errors;
}

export function listErrors(
  schema: JSONSchemaProps,
  fieldPath: FieldPath,
  rules: Pick<SchemaRules, 'requireAtomicSets' | 'requireMapListKeys'>,
): FieldError[] {
  const { listType, listMapKeys = [] } = extensionsOf(schema);
  const key = extensionKey('listType');
  const field = fieldPath.child(key);
  const errors: FieldError[] = [];
  if (listType !== undefined) {
    const known = ['atomic', 'set', 'map'];
    const wrongType = typeErrors(schema, fieldPath, 'array', key);
    addErrors(errors, wrongType);
    if (wrongType.length === 0 && rules.requireAtomicSets)
      addErrors(errors, setErrors(schema, fieldPath));
    if (!known.includes(listType)) errors.push(fieldError.notSupported(field, listType, known));
  }
  if (listMapKeys.length > 0 && listType !== 'map') {
    const detail = `must be map if ${extensionKey('listMapKeys')} is non-empty`;
    errors.push(
      listType === undefined
        ? fieldError.required(field, detail)
        : fieldError.invalid(field, listType, detail),
    );
  }
  if (listType === 'map') addErrors(errors, keyErrors(schema, listMapKeys, fieldPath));
  if (rules.requireMapListKeys) addErrors(errors, mapKeyErrors(schema, fieldPath));
  return errors;
}

/** Elements of a set must be atomic. */
function setErrors(schema: JSONSchemaProps, fieldPath: FieldPath): FieldError[] {
  const element = elementOf(schema);
  if (!element || !hasNonAtomicSet(schema)) return [];
  const merging = extensionKey(element.type === 'array' ? 'listType' : 'mapType');
  const detail = `must be atomic as item of a list with ${extensionKey('listType')}=set`;
  const listType = extensionsOf(element).listType ?? null;
  return [fieldError.invalid(fieldPath.child('items', merging), listType, detail)];
}

/** The default is atomic for lists, granular for objects. */
export function hasNonAtomicSet(schema: JSONSchemaProps): boolean {
  const element = elementOf(schema);
  if (!element || extensionsOf(schema).listType !== 'set') return false;
  const { listType = 'atomic', mapType } = extensionsOf(element);
  if (element.type === 'array') return listType !== 'atomic';
  return element.type === 'object' && mapType !== 'atomic';
}

function keyErrors(
  schema: JSONSchemaProps,
  keys: readonly string[],
  fieldPath: FieldPath,
): FieldError[] {
  const listType = extensionKey('listType');
  const keysField = fieldPath.child(extensionKey('listMapKeys'));
  const errors: FieldError[] = [];
  if (keys.length === 0) {
    errors.push(fieldError.required(keysField, `must not be empty if ${listType} is map`));
  }
  const { items } = schema;
  const itemsField = fieldPath.child('items');
  const element = elementOf(schema);
  if (!items) {
    errors.push(fieldError.required(itemsField, `must have a schema if ${listType} is map`));
  } else if (!element) {
    const detail = `must only have a single schema if ${listType} is map`;
    errors.push(fieldError.invalid(itemsField, items, detail));
  } else if (element.type !== 'object') {
    const detail = `must be object if parent array's ${listType} is map`;
    errors.push(fieldError.invalid(itemsField.child('type'), element.type ?? '', detail));
  } else {
    addErrors(errors, keyNameErrors(element, keys, itemsField, keysField));
  }
  return errors;
}

/** Errors of the list of keys are reported once. */
function keyNameErrors(
  element: JSONSchemaProps,
  keys: readonly string[],
  itemsField: FieldPath,
  keysField: FieldPath,
): FieldError[] {
  const errors: FieldError[] = [];
  for (const key of new Set(keys)) {
    const type = propertyOf(element, key)?.type;
    if (type !== 'array' && type !== 'object') continue;
    const field = itemsField.child('properties').key(key).child('type');
    const detail = `must be a scalar type if parent array's ${extensionKey('listType')} is map`;
    errors.push(fieldError.invalid(field, element.type, detail));
  }
  if (!keys.every((key) => propertyOf(element, key))) {
    const detail = 'entries must all be names of item properties';
    errors.push(fieldError.invalid(keysField, keys, detail));
  }
  if (new Set(keys).size < keys.length) {
    errors.push(fieldError.invalid(keysField, keys, 'must not contain duplicate entries'));
  }
  return errors;
}

function propertyOf({ properties = {} }: JSONSchemaProps, name: string) {
  return Object.hasOwn(properties, name) ? properties[name] : undefined;
}

/** Keys must be required or have a default, and neither elements nor keys may be nullable. */
export function mapKeyErrors(schema: JSONSchemaProps, fieldPath: FieldPath): FieldError[] {
  const { listType, listMapKeys = [] } = extensionsOf(schema);
  const element = elementOf(schema);
  if (!element || (listType !== 'set' && listType !== 'map')) return [];
  const errors: FieldError[] = [];
  const itemsField = fieldPath.child('items');
  if (element.nullable) {
    const detail = `cannot be nullable when ${extensionKey('listType')} is ${listType}`;
    errors.push(fieldError.forbidden(itemsField.child('nullable'), detail));
  }
  if (listType === 'set') return errors;
  const required = new Set(element.required);
  const because = `this property is in ${extensionKey('listMapKeys')}, so it`;
  for (const key of listMapKeys) {
    const property = propertyOf(element, key);
    if (!property) continue;
    const field = itemsField.child('properties').key(key);
    if (!required.has(key) && !hasDefault(property)) {
      const detail = `${because} must have a default or be a required property`;
      errors.push(fieldError.required(field.child('default'), detail));
    }
    if (property.nullable) {
      errors.push(fieldError.forbidden(field.child('nullable'), `${because} cannot be nullable`));
    }
  }
  return errors;
}
