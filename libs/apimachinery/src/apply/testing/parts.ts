/**
 * A type with one field of every kind, random objects of it, and a versioned type with only that
 * type.
 */
import fc from 'fast-check';
import type { Json, JsonObject } from '../../patch/json-values.js';
import { type FieldSet, pathsOf } from '../field-set.js';
import type { VersionedType } from '../ownership.js';
import {
  anyShape,
  listOf,
  type MapShape,
  mapOf,
  type ScalarShape,
  type Shape,
  structOf,
} from '../shape.js';

const text: ScalarShape = { kind: 'scalar', type: 'string' };
const numeric: ScalarShape = { kind: 'scalar', type: 'numeric' };

const item = structOf(
  new Map<string, Shape>([
    ['name', text],
    ['port', numeric],
    ['value', text],
    ['labels', mapOf(text)],
    ['tags', listOf(text, 'set')],
  ]),
);

export const partsShape: MapShape = structOf(
  new Map<string, Shape>([
    ['apiVersion', text],
    ['kind', text],
    ['text', text],
    ['count', numeric],
    ['labels', mapOf(text)],
    ['tags', listOf(text, 'set')],
    ['items', listOf(item, 'map', [{ name: 'name' }])],
    ['ports', listOf(item, 'map', [{ name: 'port' }, { name: 'name', default: 'main' }])],
    ['whole', listOf(text, 'atomic')],
    ['wholeMap', mapOf(text, true)],
    ['inner', item],
    ['free', anyShape],
  ]),
);

const word = fc.constantFrom('a', 'b', 'c', 'd');
const labels = fc.dictionary(word, word, { minKeys: 1, maxKeys: 3 });
const tags = fc.uniqueArray(word, { minLength: 1, maxLength: 3 });

function itemWith(key: Record<string, fc.Arbitrary<Json>>): fc.Arbitrary<JsonObject> {
  const optional = { value: word, labels, tags };
  return fc.record({ ...optional, ...key }, { requiredKeys: Object.keys(key) as never[] });
}

const keyed = { selector: (it: JsonObject) => String(it.name), minLength: 1, maxLength: 3 };
const numbered = { selector: (it: JsonObject) => String(it.port), minLength: 1, maxLength: 3 };

/** Omits members at random; lists have no duplicate keys, and no member is empty. */
export const arbitraryParts: fc.Arbitrary<JsonObject> = fc.record(
  {
    text: word,
    count: fc.nat(3),
    labels,
    tags,
    items: fc.uniqueArray(itemWith({ name: word }), keyed),
    ports: fc.uniqueArray(itemWith({ port: fc.integer({ min: 8, max: 12 }) }), numbered),
    whole: fc.array(word, { minLength: 1, maxLength: 3 }),
    wholeMap: labels,
    inner: itemWith({ port: fc.nat(3) }),
    free: fc.oneof(word, fc.array(word, { minLength: 1, maxLength: 2 }), labels),
  },
  { requiredKeys: [] },
) as fc.Arbitrary<JsonObject>;

/** One version, no conversion, no reset fields. */
export const partsType: VersionedType = {
  shape: (version) => (version === 'v1' ? partsShape : undefined),
  convert: (object) => object,
  ignored: () => undefined,
  empty: () => ({}),
};

/** The paths of a set as text, for a naive model. */
export function textsOf(set: FieldSet): string[] {
  return [...pathsOf(set)].map((path) => JSON.stringify(path)).sort();
}
