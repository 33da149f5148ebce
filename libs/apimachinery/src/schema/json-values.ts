/**
 * Checks and normalises JSON values that are not objects of a type: null elements become zero, map
 * keys are sorted. Values that are already normal are returned without a copy.
 */
import { objectDepthMax } from '../limits.js';
import { type CompiledType, hasMembers, type PlainObject, putOwn } from './compiled-type.js';
import { SchemaError, within, wrongType } from './schema-error.js';

const int64Bound = 2 ** 63;
/** The largest number below 2^63: a number cannot represent the largest int64 exactly. */
const int64Largest = int64Bound - 1024;
const base64Alphabet = /^[A-Za-z0-9+/]*={0,2}$/;

export type ElementDecoder = (value: unknown) => unknown;

export function tooDeep(): SchemaError {
  return new SchemaError(`nested deeper than ${objectDepthMax} levels`);
}

export function decodeString(value: unknown): string {
  if (value === null) return '';
  if (typeof value !== 'string') throw wrongType('a string', value);
  return value;
}

export function decodeBool(value: unknown): boolean {
  if (value === null) return false;
  if (typeof value !== 'boolean') throw wrongType('a boolean', value);
  return value;
}

export function decodeInt32(value: unknown): number {
  if (value === null) return 0;
  if (typeof value !== 'number' || !Number.isInteger(value)) throw wrongType('an integer', value);
  if (value < -2_147_483_648 || value > 2_147_483_647) {
    throw wrongType('a 32-bit integer', value);
  }
  return value + 0;
}

export function decodeInt64(value: unknown): number {
  if (value === null) return 0;
  if (typeof value !== 'number' || !Number.isInteger(value)) throw wrongType('an integer', value);
  if (value < -int64Bound || value > int64Bound) throw wrongType('a 64-bit integer', value);
  return value === int64Bound ? int64Largest : value + 0;
}

export function decodeDouble(value: unknown): number {
  if (value === null) return 0;
  if (typeof value !== 'number' || !Number.isFinite(value)) throw wrongType('a number', value);
  return value + 0;
}

/** Base64 with padding; line breaks are removed. Also accepts a list of bytes. */
export function decodeBytes(value: unknown): string {
  if (value === null) return '';
  if (Array.isArray(value) && value.every(isByte)) return Buffer.from(value).toString('base64');
  if (typeof value !== 'string') throw wrongType('base64 text', value);
  const text = /[\r\n]/.test(value) ? value.replace(/[\r\n]/g, '') : value;
  if (text.length % 4 !== 0 || !base64Alphabet.test(text)) {
    throw new SchemaError('illegal base64 data');
  }
  return text.endsWith('=') ? canonicalTail(text) : text;
}

function isByte(value: unknown): value is number {
  return Number.isInteger(value) && Number(value) >= 0 && Number(value) <= 255;
}

/** Clears the unused bits of the last group of four. */
function canonicalTail(text: string): string {
  const tail = text.slice(-4);
  const canonical = Buffer.from(tail, 'base64').toString('base64');
  return canonical === tail ? text : text.slice(0, -4) + canonical;
}

/** Any JSON, unchanged; checks the depth, and that its numbers can be written again. */
export function decodeAny(value: unknown, depth = 0): unknown {
  if (typeof value === 'number' && !Number.isFinite(value)) {
    throw new SchemaError('a number is out of range');
  }
  if (!hasMembers(value)) return value;
  if (depth > objectDepthMax) throw tooDeep();
  if (value instanceof Uint8Array) return value;
  for (const key in value) decodeAny(value[key], depth + 1);
  return value;
}

export function decodeList(value: unknown, decode: ElementDecoder): unknown[] {
  if (!Array.isArray(value)) throw wrongType('a list', value);
  let result: unknown[] = value;
  for (let index = 0; index < value.length; index += 1) {
    const element = decodeElement(value[index], decode, index);
    if (element === value[index]) continue;
    if (result === value) result = value.slice();
    result[index] = element;
  }
  return result;
}

function decodeElement(value: unknown, decode: ElementDecoder, index: number): unknown {
  try {
    return decode(value);
  } catch (error) {
    throw within(error, `[${index}]`);
  }
}

export function decodeMessageList(value: unknown, type: CompiledType, depth: number): unknown[] {
  if (!Array.isArray(value)) throw wrongType('a list', value);
  const result = new Array<unknown>(value.length);
  let index = 0;
  try {
    for (; index < value.length; index += 1) {
      const element: unknown = value[index];
      const decoded = element == null ? type.zero(depth) : type.decode(element, depth);
      result[index] = decoded === undefined ? null : decoded;
    }
  } catch (error) {
    throw within(error, `[${index}]`);
  }
  return result;
}

export function decodeMap(source: unknown, decode: ElementDecoder): PlainObject {
  if (!hasMembers(source) || Array.isArray(source)) throw wrongType('an object', source);
  const keys = Object.keys(source);
  let isNormal = true;
  const elements = new Array<unknown>(keys.length);
  for (let index = 0; index < keys.length; index += 1) {
    const key = keys[index]!;
    if (index > 0 && keys[index - 1]! > key) isNormal = false;
    try {
      elements[index] = decode(source[key]);
    } catch (error) {
      throw within(error, `[${key}]`);
    }
    if (elements[index] !== source[key]) isNormal = false;
  }
  return isNormal ? source : sortedMap(keys, elements);
}

export function decodeMessageMap(value: unknown, type: CompiledType, depth: number): PlainObject {
  return decodeMap(value, (element) => {
    const decoded = element == null ? type.zero(depth) : type.decode(element, depth);
    return decoded === undefined ? null : decoded;
  });
}

function sortedMap(keys: readonly string[], elements: readonly unknown[]): PlainObject {
  const order = keys.map((_, index) => index).sort((a, b) => (keys[a]! < keys[b]! ? -1 : 1));
  const result: PlainObject = {};
  for (const index of order) putOwn(result, keys[index]!, elements[index]);
  return result;
}

export function isEmptyMap(map: PlainObject): boolean {
  for (const _ in map) return false;
  return true;
}
