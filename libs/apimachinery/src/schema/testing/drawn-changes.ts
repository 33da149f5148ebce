/** Changes an object at random levels; the result still fits its type. */

import type { FieldDescriptor, TypeName } from '../../descriptors/descriptor.js';
import { jsonFields, type PlainObject } from '../compiled-type.js';
import { schemaType, splitTypeName } from '../registry.js';
import { type DrawOptions, drawnObject, drawnValue, isChoice } from './drawn-values.js';
import type { Draws } from './draws.js';

function isObject(value: unknown): value is PlainObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

interface TypedObject {
  readonly name: TypeName;
  readonly object: PlainObject;
}

/** The objects of plain types directly below this one. */
function objectsBelow({ name, object }: TypedObject): TypedObject[] {
  return jsonFields(name).flatMap((field) => {
    if (field.kind !== 'message' || schemaType(field.ref!).encoding) return [];
    return valuesOf(field, object[field.name])
      .filter(isObject)
      .map((child) => ({ name: field.ref!, object: child }));
  });
}

function valuesOf({ cardinality }: FieldDescriptor, value: unknown): readonly unknown[] {
  if (cardinality === 'list') return Array.isArray(value) ? value : [];
  if (cardinality === 'map') return isObject(value) ? Object.values(value) : [];
  return [value];
}

/** Nested objects are as likely as the top level. */
function drawnTarget(root: TypedObject, draws: Draws): TypedObject {
  let target = root;
  while (!draws.once(5)) {
    const below = objectsBelow(target);
    if (below.length === 0) return target;
    target = draws.from(below);
  }
  return target;
}

/** Duplicates one of the elements. */
function doubled(list: unknown[], draws: Draws): void {
  if (list.length > 0) list.push(structuredClone(draws.from(list)));
}

function changeField(
  { name, object }: TypedObject,
  field: FieldDescriptor,
  draws: Draws,
  settings: DrawOptions,
): void {
  const value = object[field.name];
  const kind = draws.below(10);
  if (kind === 9) delete object[field.name];
  else if (kind === 8 && Array.isArray(value)) doubled(value, draws);
  else if (kind === 7 && Array.isArray(value)) value.splice(draws.below(value.length + 1), 1);
  else {
    if (value === undefined && isChoice(name) && !draws.once(6)) leaveOut(name, object);
    object[field.name] = drawnValue(field, splitTypeName(name).file, draws, settings);
  }
}

/** Removes the member that was set before. */
function leaveOut(name: TypeName, object: PlainObject): void {
  for (const { name: member, kind, nullable } of jsonFields(name)) {
    if (kind === 'message' && nullable) delete object[member];
  }
}

/** Changes `object`, of the type `name`, at one level. */
export function changeObject(
  name: TypeName,
  object: PlainObject,
  draws: Draws,
  settings: DrawOptions,
): void {
  const target = drawnTarget({ name, object }, draws);
  const fields = jsonFields(target.name);
  if (fields.length === 0) return;
  if (target.object !== object && draws.once(12)) {
    for (const key of Object.keys(target.object)) delete target.object[key];
    Object.assign(target.object, drawnObject(target.name, draws, settings));
    return;
  }
  // Changing an existing field is as likely as adding one.
  const present = fields.filter((field) => target.object[field.name] !== undefined);
  const chosen = present.length > 0 && draws.once(2) ? draws.from(present) : draws.from(fields);
  changeField(target, chosen, draws, settings);
}
