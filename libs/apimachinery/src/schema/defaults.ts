/**
 * Constant defaults of the schema. Defaults that depend on other fields, features or the enclosing
 * kind belong to the kinds. Quantities are also rounded up to thousandths here, because the
 * interface does so wherever it sets defaults.
 */

import type { FieldDescriptor, TypeName } from '../descriptors/descriptor.js';
import { Quantity } from '../quantity/quantity.js';
import { hasMembers, jsonFields, type PlainObject } from './compiled-type.js';
import { schemaType } from './registry.js';

export type Defaulter = (object: PlainObject) => void;

const defaulters = new Map<TypeName, Defaulter>();
const withDefaults = new Map<TypeName, boolean>();
const resourceName = /(^|core\/v1\.)ResourceName$/;
const finerThanMilli = /[nu]$|e-/;

/** The function that sets the defaults of a type and of everything below it. */
export function defaulterFor(name: TypeName): Defaulter {
  const known = defaulters.get(name);
  if (known) return known;
  const steps: Defaulter[] = [];
  defaulters.set(name, (object) => {
    for (const step of steps) step(object);
  });
  for (const field of jsonFields(name)) {
    if (field.default !== undefined) steps.push(fillIn(field, field.default));
    if (isResourceList(field)) steps.push((object) => roundResources(object[field.name]));
    else if (field.ref && hasDefaults(field.ref)) steps.push(descend(field, field.ref));
  }
  return defaulters.get(name)!;
}

function isResourceList(field: FieldDescriptor): boolean {
  return field.cardinality === 'map' && resourceName.test(field.keyEnumType ?? '');
}

function hasDefaults(name: TypeName, visited = new Set<TypeName>()): boolean {
  const known = withDefaults.get(name);
  if (known !== undefined) return known;
  if (visited.has(name)) return false;
  visited.add(name);
  const found = jsonFields(name).some(
    (field) =>
      field.default !== undefined ||
      isResourceList(field) ||
      (field.ref !== undefined && hasDefaults(field.ref, visited)),
  );
  if (found || visited.values().next().value === name) withDefaults.set(name, found);
  return found;
}

function fillIn(field: FieldDescriptor, text: string): Defaulter {
  const value: unknown = field.kind === 'string' && !field.cardinality ? text : JSON.parse(text);
  const fresh = typeof value === 'object' ? () => structuredClone(value) : () => value;
  const { name } = field;
  return (object) => {
    const current = object[name];
    const isEmpty =
      current === undefined ||
      current === null ||
      (!field.nullable && (current === '' || current === 0)) ||
      (Array.isArray(current) && current.length === 0);
    if (isEmpty) object[name] = fresh();
  };
}

function descend(field: FieldDescriptor, ref: TypeName): Defaulter {
  const { name, cardinality } = field;
  const run = defaulterFor(ref);
  if (cardinality === 'list') return (object) => eachObject(object[name], run);
  if (cardinality === 'map') {
    return (object) => eachObject(Object.values(object[name] ?? {}), run);
  }
  const isAlways = !field.nullable && schemaType(ref).encoding === undefined;
  return (object) => {
    if (isAlways) object[name] ??= {};
    eachObject([object[name]], run);
  };
}

function eachObject(values: unknown, run: Defaulter): void {
  if (!Array.isArray(values)) return;
  for (const value of values) {
    if (hasMembers(value)) run(value);
  }
}

function roundResources(resources: unknown): void {
  if (!hasMembers(resources)) return;
  for (const [key, amount] of Object.entries(resources)) {
    if (typeof amount !== 'string' || !finerThanMilli.test(amount)) continue;
    resources[key] = Quantity.parse(amount).roundedToMilli().toString();
  }
}
