/**
 * Values viewed through a shape: how list elements are identified, and whether a value fits. A
 * value that does not fit causes a TypedError with its path.
 */
import { objectDepthMax, reportedTypeErrorCountMax } from '../limits.js';
import { isDeeperThan, isJsonObject, type Json, type JsonObject } from '../patch/json-values.js';
import {
  elementText,
  fieldElement,
  keyElement,
  type PathElement,
  valueElement,
} from './path-element.js';
import {
  anyList,
  anyMap,
  anyScalar,
  type ListShape,
  type MapShape,
  memberShape,
  type ScalarShape,
  type Shape,
} from './shape.js';

/** A value that does not fit its shape; the message begins with the path. */
export class TypedError extends Error {
  override readonly name = 'TypedError';

  /** `messages`: each begins with the path relative to the checked value. */
  constructor(readonly messages: readonly string[]) {
    super(messages.length === 1 ? messages[0] : ['errors:', ...messages].join('\n  '));
  }

  /** The same error, with the path relative to the parent. */
  under(element: PathElement): TypedError {
    const step = elementText(element);
    return new TypedError(this.messages.map((message) => joined(step, message)));
  }
}

function joined(step: string, message: string): string {
  return message.startsWith('.') || message.startsWith('[')
    ? step + message
    : `${step}: ${message}`;
}

/** A shape that allows one kind of value only. */
export type PlainShape = ScalarShape | ListShape | MapShape;

/** Narrows a shape that allows any kind to the kind of this value. */
export function plainShape(shape: Shape, value: unknown): PlainShape {
  if (shape.kind !== 'any') return shape;
  if (Array.isArray(value)) return anyList;
  return typeof value === 'object' ? anyMap : anyScalar;
}

export function isEmptyValue(value: unknown): boolean {
  if (value === null || value === undefined) return true;
  if (Array.isArray(value)) return value.length === 0;
  if (!isJsonObject(value)) return true;
  for (const key in value) if (value[key] !== undefined) return false;
  return true;
}

/** The list; empty for any other value. */
export function itemsOf(value: unknown): readonly Json[] {
  return Array.isArray(value) ? value : [];
}

/** A member of an object by a name that is data; inherited properties do not count. */
export function memberOf(object: JsonObject, name: string): Json | undefined {
  const value = object[name];
  if (typeof value === 'function') return undefined;
  return name !== '__proto__' || Object.hasOwn(object, name) ? value : undefined;
}

/** The path element of an element of a merged list. Throws TypedError. */
export function itemElement(shape: ListShape, index: number, item: Json): PathElement {
  return shape.type === 'map' ? keyedElement(shape, index, item) : setElement(index, item);
}

function keyedElement({ keys }: ListShape, index: number, item: Json): PathElement {
  if (item === null) {
    throw itemError(index, 'associative list with keys may not have a null element');
  }
  if (!isJsonObject(item)) {
    throw itemError(index, 'associative list with keys may not have non-map elements');
  }
  const only = keys.length === 1 ? item[keys[0]!.name] : undefined;
  // The common case: one key, a text with nothing to escape.
  if (typeof only === 'string' && plainText.test(only) && plainText.test(keys[0]!.name)) {
    return `k:{"${keys[0]!.name}":"${only}"}`;
  }
  const values = keys.map((key) => {
    const value = (Object.hasOwn(item, key.name) ? item[key.name] : undefined) ?? key.default;
    if (value !== undefined) return value;
    throw itemError(
      index,
      `associative list with keys has an element that omits key field ${JSON.stringify(key.name)} (and doesn't have default value)`,
    );
  });
  return keyElement(
    keys.map((key) => key.name),
    values,
  );
}

const plainText = /^[\w./ -]*$/;

function setElement(index: number, item: Json): PathElement {
  if (item === null) {
    throw itemError(index, "associative list without keys has an element that's an explicit null");
  }
  if (Array.isArray(item)) {
    throw itemError(index, 'not supported: associative list with lists as elements');
  }
  if (typeof item === 'object') {
    throw itemError(index, "associative list without keys has an element that's a map type");
  }
  return valueElement(item);
}

function itemError(index: number, message: string): TypedError {
  return new TypedError([`element ${index}: ${message}`]);
}

export function duplicateError(element: PathElement): TypedError {
  return new TypedError([`duplicate entries for key ${elementText(element)}`]);
}

/** The path elements of a merged list. Throws TypedError, also for duplicates. */
export function itemElements(shape: ListShape, items: readonly Json[]): PathElement[] {
  const elements: PathElement[] = new Array(items.length);
  for (let index = 0; index < items.length; index += 1) {
    elements[index] = itemElement(shape, index, items[index]!);
  }
  checkDistinct(elements);
  return elements;
}

const comparedMax = 8;

function checkDistinct(elements: readonly PathElement[]): void {
  if (elements.length > comparedMax) {
    const seen = new Set<PathElement>();
    for (const element of elements) {
      if (seen.has(element)) throw duplicateError(element);
      seen.add(element);
    }
    return;
  }
  for (let index = 1; index < elements.length; index += 1) {
    if (elements.lastIndexOf(elements[index]!, index - 1) >= 0) {
      throw duplicateError(elements[index]!);
    }
  }
}

/** Throws TypedError if the value does not fit or is nested too deeply. */
export function checkTyped(shape: Shape, value: Json): void {
  if (isDeeperThan(value, objectDepthMax)) {
    throw new TypedError([`nested deeper than ${objectDepthMax} levels`]);
  }
  const messages: string[] = [];
  check(shape, value, '', messages);
  if (messages.length > 0) throw new TypedError(messages);
}

function check(shape: Shape, value: Json, at: string, messages: string[]): void {
  if (value === null || messages.length >= reportedTypeErrorCountMax) return;
  const plain = plainShape(shape, value);
  if (plain.kind === 'scalar') checkScalar(plain, value, at, messages);
  else if (plain.kind === 'list') checkList(plain, value, at, messages);
  else checkMap(plain, value, at, messages);
}

function add(messages: string[], at: string, message: string): void {
  messages.push(at === '' ? message : `${at}: ${message}`);
}

const scalarWords = {
  string: 'string',
  numeric: 'numeric (int or float)',
  boolean: 'boolean',
} as const;

function checkScalar({ type }: ScalarShape, value: Json, at: string, messages: string[]): void {
  if (type === 'untyped') {
    if (typeof value === 'object') add(messages, at, `expected a scalar, got ${typeText(value)}`);
    return;
  }
  if (typeof value === (type === 'numeric' ? 'number' : type)) return;
  const found = type === 'string' ? typeText(value) : typeWord(value);
  add(messages, at, `expected ${scalarWords[type]}, got ${found}`);
}

/** The name of the value's type, in upstream wording. */
function typeWord(value: Json): string {
  if (Array.isArray(value)) return '[]interface {}';
  if (typeof value === 'object') return 'map[string]interface {}';
  if (typeof value === 'number') return Number.isInteger(value) ? 'int64' : 'float64';
  return typeof value === 'boolean' ? 'bool' : typeof value;
}

const reportedLengthMax = 128;

function typeText(value: Json): string {
  if (Array.isArray(value)) return 'list';
  if (typeof value === 'object') return 'map';
  return `${typeof value} ${JSON.stringify(value).slice(0, reportedLengthMax)}`;
}

function checkList(shape: ListShape, value: Json, at: string, messages: string[]): void {
  if (!Array.isArray(value)) {
    add(messages, at, `expected list, got ${typeText(value)}`);
    return;
  }
  const seen = new Set<PathElement>();
  for (let index = 0; index < value.length; index += 1) {
    const item = value[index]!;
    let element = `i:${index}`;
    if (shape.type !== 'atomic') {
      try {
        element = itemElement(shape, index, item);
      } catch (error) {
        if (!(error instanceof TypedError)) throw error;
        add(messages, at, error.message);
        continue;
      }
      if (seen.has(element)) add(messages, at, duplicateError(element).message);
      seen.add(element);
    }
    check(shape.element, item, at + elementText(element), messages);
  }
}

function checkMap(shape: MapShape, value: Json, at: string, messages: string[]): void {
  if (!isJsonObject(value)) {
    add(messages, at, `expected map, got ${typeText(value)}`);
    return;
  }
  for (const name in value) {
    const member = memberShape(shape, name);
    const path = at + elementText(fieldElement(name));
    if (member) check(member, value[name]!, path, messages);
    else add(messages, path, 'field not declared in schema');
  }
}
