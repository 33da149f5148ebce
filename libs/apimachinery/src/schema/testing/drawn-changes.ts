/** Changes of an object at random places that leave it right by its type. */
import { jsonFields, type PlainObject } from '../compiled-type.js';
import type { FieldDescriptor, TypeName } from '../descriptor.js';
import { schemaType, splitTypeName } from '../registry.js';
import { type DrawSettings, drawnObject, drawnValue, isChoice } from './drawn-values.js';
import type { Draws } from './draws.js';

function isObject(value: unknown): value is PlainObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

interface Place {
  readonly name: TypeName;
  readonly object: PlainObject;
}

/** The objects of plain types right below this one. */
function placesBelow({ name, object }: Place): Place[] {
  return jsonFields(name).flatMap((field) => {
    if (field.kind !== 'message' || schemaType(field.ref!).encoding) return [];
    return valuesOf(field, object[field.name])
      .filter(isObject)
      .map((one) => ({ name: field.ref!, object: one }));
  });
}

function valuesOf({ cardinality }: FieldDescriptor, value: unknown): readonly unknown[] {
  if (cardinality === 'list') return Array.isArray(value) ? value : [];
  if (cardinality === 'map') return isObject(value) ? Object.values(value) : [];
  return [value];
}

/** Deep places are as likely as those at the top. */
function drawnPlace(root: Place, draws: Draws): Place {
  let place = root;
  while (!draws.once(5)) {
    const below = placesBelow(place);
    if (below.length === 0) return place;
    place = draws.from(below);
  }
  return place;
}

/** One of its members stands there twice. */
function doubled(list: unknown[], draws: Draws): void {
  if (list.length > 0) list.push(structuredClone(draws.from(list)));
}

function changeField(
  { name, object }: Place,
  field: FieldDescriptor,
  draws: Draws,
  settings: DrawSettings,
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

/** The choice that was made before. */
function leaveOut(name: TypeName, object: PlainObject): void {
  for (const { name: member, kind, nullable } of jsonFields(name)) {
    if (kind === 'message' && nullable) delete object[member];
  }
}

/** Changes `object`, of the type `name`, at one place. */
export function changeObject(
  name: TypeName,
  object: PlainObject,
  draws: Draws,
  settings: DrawSettings,
): void {
  const place = drawnPlace({ name, object }, draws);
  const fields = jsonFields(place.name);
  if (fields.length === 0) return;
  if (place.object !== object && draws.once(12)) {
    for (const key of Object.keys(place.object)) delete place.object[key];
    Object.assign(place.object, drawnObject(place.name, draws, settings));
    return;
  }
  // What is there is changed as often as something comes to it.
  const present = fields.filter((field) => place.object[field.name] !== undefined);
  const chosen = present.length > 0 && draws.once(2) ? draws.from(present) : draws.from(fields);
  changeField(place, chosen, draws, settings);
}
