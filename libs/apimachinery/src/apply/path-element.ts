/**
 * One step of a path in a field set, in its FieldsV1 text: `f:name` for an object member,
 * `k:{"name":"a"}` for a list element with those keys, `v:"a"` for a set element, `i:0` for a list
 * index. Equal steps have equal canonical texts.
 */
import { objectDepthMax } from '../limits.js';
import {
  deepEqual,
  isDeeperThan,
  isJsonObject,
  type Json,
  type JsonObject,
  membersOf,
} from '../patch/json-values.js';
import { quote } from '../status/value-format.js';

export type PathElement = string;

/** Text that is not a field set. */
export class FieldSetError extends Error {
  override readonly name = 'FieldSetError';
}

export function fieldElement(name: string): PathElement {
  return `f:${name}`;
}

export function valueElement(value: Json): PathElement {
  return `v:${JSON.stringify(value)}`;
}

/** `names` must be sorted, with one value each. */
export function keyElement(names: readonly string[], values: readonly Json[]): PathElement {
  let text = 'k:{';
  for (let index = 0; index < names.length; index += 1) {
    if (index > 0) text += ',';
    text += `${JSON.stringify(names[index])}:${JSON.stringify(values[index])}`;
  }
  return `${text}}`;
}

/**
 * The canonical text of a step; undefined for an unknown kind of step, which readers skip. Throws
 * FieldSetError.
 */
export function canonicalElement(text: string): PathElement | undefined {
  if (text[1] !== ':') throw new FieldSetError(`no path element: ${quote(text)}`);
  const rest = text.slice(2);
  switch (text[0]) {
    case 'f':
      return text;
    case 'v':
      return valueElement(parsed(rest));
    case 'k':
      return canonicalKey(parsed(rest), text);
    case 'i':
      if (!/^-?\d{1,15}$/.test(rest)) throw new FieldSetError(`no index: ${quote(text)}`);
      return `i:${Number(rest)}`;
    default:
      return undefined;
  }
}

function canonicalKey(value: Json, text: string): PathElement {
  if (!isJsonObject(value)) throw new FieldSetError(`no keys: ${quote(text)}`);
  const names = Object.keys(value).sort(compareText);
  return keyElement(
    names,
    names.map((name) => value[name] ?? null),
  );
}

function parsed(text: string): Json {
  let value: Json;
  try {
    value = JSON.parse(text) as Json;
  } catch {
    throw new FieldSetError(`not JSON: ${quote(text)}`);
  }
  if (isDeeperThan(value, objectDepthMax)) {
    throw new FieldSetError(`nested deeper than ${objectDepthMax} levels`);
  }
  return value;
}

/** Compares by code points, which is the order of the UTF-8 bytes. */
export function compareText(a: string, b: string): number {
  if (a === b) return 0;
  const shared = Math.min(a.length, b.length);
  for (let index = 0; index < shared; index += 1) {
    const x = a.charCodeAt(index);
    const y = b.charCodeAt(index);
    if (x === y) continue;
    const xIsSurrogate = x >= 0xd800 && x <= 0xdfff;
    const yIsSurrogate = y >= 0xd800 && y <= 0xdfff;
    if (xIsSurrogate !== yIsSurrogate) return xIsSurrogate ? 1 : -1;
    return x - y;
  }
  return a.length - b.length;
}

const ranks: Readonly<Record<string, number>> = { f: 0, k: 1, v: 2, i: 3 };

/** The order in which FieldsV1 lists steps. Both must be canonical. */
export function compareElements(a: PathElement, b: PathElement): number {
  if (a === b) return 0;
  if (a[0] === 'f' && b[0] === 'f') return compareText(a, b);
  return compareRead(read(a), read(b));
}

/** A step with its parsed value, which is expensive to read. */
interface ReadElement {
  readonly element: PathElement;
  readonly rank: number;
  readonly value: Json;
}

function read(element: PathElement): ReadElement {
  const rank = ranks[element[0]!]!;
  return { element, rank, value: rank === 0 ? null : (JSON.parse(element.slice(2)) as Json) };
}

function compareRead(a: ReadElement, b: ReadElement): number {
  if (a.rank !== b.rank) return a.rank - b.rank;
  return a.rank === 0 ? compareText(a.element, b.element) : compareValues(a.value, b.value);
}

/** The steps in order; each is parsed once. */
export function sortedElements(elements: readonly PathElement[]): PathElement[] {
  return elements
    .map(read)
    .sort(compareRead)
    .map(({ element }) => element);
}

function valueRank(value: Json): number {
  if (typeof value === 'number') return 0;
  if (typeof value === 'string') return 1;
  if (typeof value === 'boolean') return 2;
  if (Array.isArray(value)) return 3;
  return value === null ? 5 : 4;
}

function compareValues(a: Json, b: Json): number {
  const rank = valueRank(a);
  if (rank !== valueRank(b)) return rank - valueRank(b);
  if (typeof a === 'string' && typeof b === 'string') return compareText(a, b);
  if (typeof a === 'number' || typeof a === 'boolean') return Number(a) - Number(b);
  if (deepEqual(a, b)) return 0;
  if (Array.isArray(a) && Array.isArray(b)) return compareLists(a, b);
  return compareMaps(membersOf(a), membersOf(b));
}

function compareLists(a: readonly Json[], b: readonly Json[]): number {
  for (let index = 0; index < Math.min(a.length, b.length); index += 1) {
    const order = compareValues(a[index]!, b[index]!);
    if (order !== 0) return order;
  }
  return a.length - b.length;
}

function compareMaps(a: JsonObject, b: JsonObject): number {
  const names = Object.keys(a).sort(compareText);
  const others = Object.keys(b).sort(compareText);
  for (let index = 0; index < Math.min(names.length, others.length); index += 1) {
    const order =
      compareText(names[index]!, others[index]!) ||
      compareValues(a[names[index]!]!, b[others[index]!]!);
    if (order !== 0) return order;
  }
  return names.length - others.length;
}

/** The step as messages show it: `.name`, `[port=80,protocol="TCP"]`, `[="a"]`, `[0]`. */
export function elementText(element: PathElement): string {
  const rest = element.slice(2);
  if (element[0] === 'f') return `.${rest}`;
  if (element[0] === 'i') return `[${rest}]`;
  const value = JSON.parse(rest) as Json;
  if (element[0] === 'v') return `[=${valueText(value)}]`;
  const keys = Object.entries(membersOf(value));
  return `[${keys.map(([name, key]) => `${name}=${valueText(key)}`).join(',')}]`;
}

function valueText(value: Json): string {
  return typeof value === 'string' ? quote(value) : JSON.stringify(value);
}

export function pathText(path: readonly PathElement[]): string {
  return path.map(elementText).join('');
}
