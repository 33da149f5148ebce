/** Merges a configuration into an object: sets the fields it names and leaves all others. */
import { type Json, type JsonObject, membersOf, setKey } from '../patch/json-values.js';
import { type ListShape, type MapShape, memberShape, type Shape } from './shape.js';
import { isEmptyValue, itemElements, itemsOf, memberOf, plainShape } from './typed.js';

/**
 * Returns the merged object, which shares structure with both inputs; the inputs are not changed.
 * Elements of merged lists keep their order; new ones follow in the order of the configuration.
 * Throws TypedError.
 */
export function mergeObjects(shape: Shape, live: Json, config: Json): Json {
  const plain = plainShape(shape, config ?? live);
  if (config !== null && live !== null && plain !== plainShape(shape, live)) return config;
  if (plain.kind === 'scalar') return config;
  const isWhole = plain.kind === 'list' ? plain.type === 'atomic' : plain.isAtomic;
  if (isWhole || (isEmptyValue(live) && isEmptyValue(config))) return config;
  return plain.kind === 'list' ? mergeLists(plain, live, config) : mergeMaps(plain, live, config);
}

function mergeMaps(shape: MapShape, live: Json, config: Json): Json {
  const old = membersOf(live);
  const applied = membersOf(config);
  const result: JsonObject = {};
  for (const name in old) {
    const was = old[name];
    const value = memberOf(applied, name);
    if (was === undefined) continue;
    const member = memberShape(shape, name);
    const isBoth = value !== undefined && member !== undefined;
    setKey(result, name, isBoth ? mergeObjects(member, was, value) : was);
  }
  for (const name in applied) {
    const value = applied[name];
    if (value !== undefined && memberOf(old, name) === undefined) setKey(result, name, value);
  }
  return result;
}

function mergeLists(shape: ListShape, live: Json, config: Json): Json {
  const old = itemsOf(live);
  const applied = itemsOf(config);
  const oldElements = itemElements(shape, old);
  const appliedIndexes = new Map(
    itemElements(shape, applied).map((element, index) => [element, index]),
  );
  const result = old.map((item, index) => {
    const element = oldElements[index]!;
    const at = appliedIndexes.get(element);
    if (at === undefined) return item;
    appliedIndexes.delete(element);
    return mergeObjects(shape.element, item, applied[at]!);
  });
  for (const at of appliedIndexes.values()) result.push(applied[at]!);
  return result;
}
