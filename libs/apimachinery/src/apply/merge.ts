/** Merges a configuration into an object: what it names is set, everything else stays. */
import { type Json, type JsonObject, setKey } from '../patch/json-values.js';
import { type ListShape, type MapShape, memberShape, type Shape } from './shape.js';
import { isEmptyValue, itemElements, itemsOf, memberOf, membersOf, plainShape } from './typed.js';

/**
 * The merged object. Neither side is changed, the result shares parts of both. Elements of merged lists
 * keep their places, new ones follow in the order of the configuration. Throws TypedError.
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
  const wanted = membersOf(config);
  const result: JsonObject = {};
  for (const name in old) {
    const was = old[name];
    const value = memberOf(wanted, name);
    if (was === undefined) continue;
    const member = memberShape(shape, name);
    const isBoth = value !== undefined && member !== undefined;
    setKey(result, name, isBoth ? mergeObjects(member, was, value) : was);
  }
  for (const name in wanted) {
    const value = wanted[name];
    if (value !== undefined && memberOf(old, name) === undefined) setKey(result, name, value);
  }
  return result;
}

function mergeLists(shape: ListShape, live: Json, config: Json): Json {
  const old = itemsOf(live);
  const wanted = itemsOf(config);
  const oldElements = itemElements(shape, old);
  const wantedAt = new Map(itemElements(shape, wanted).map((element, index) => [element, index]));
  const result = old.map((item, index) => {
    const element = oldElements[index]!;
    const at = wantedAt.get(element);
    if (at === undefined) return item;
    wantedAt.delete(element);
    return mergeObjects(shape.element, item, wanted[at]!);
  });
  for (const at of wantedAt.values()) result.push(wanted[at]!);
  return result;
}
