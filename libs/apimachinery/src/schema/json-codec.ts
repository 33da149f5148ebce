/**
 * Generates, per type, the function that checks a JSON value, drops unknown fields and normalises
 * the rest: fields in the order of the schema, empty optional ones omitted, always-written ones
 * present. Decoding is idempotent. The function is generated as source text, because property
 * access by constant name is several times faster than by variable name, and it runs for every
 * received object. The text contains only names from our own descriptors, quoted as JSON.
 */

import type { FieldDescriptor, TypeName } from '../descriptors/descriptor.js';
import { objectDepthMax } from '../limits.js';
import { type CompiledType, encodingOf, jsonFields, type TypeResolver } from './compiled-type.js';
import * as values from './json-values.js';
import { schemaType } from './registry.js';
import { within, wrongType } from './schema-error.js';

export type JsonDecoder = (value: unknown, depth: number) => unknown;

const helpers = { ...values, within, wrongType };

/** `typeof` test, words for the error, zero value and element decoder of each kind. */
const scalars = {
  string: { decoder: 'decodeString', inline: 'string', zero: '""' },
  bool: { decoder: 'decodeBool', inline: 'boolean', zero: 'false' },
  int32: { decoder: 'decodeInt32', inline: undefined, zero: '0' },
  int64: { decoder: 'decodeInt64', inline: undefined, zero: '0' },
  double: { decoder: 'decodeDouble', inline: undefined, zero: '0' },
  bytes: { decoder: 'decodeBytes', inline: undefined, zero: '""' },
  any: { decoder: 'decodeAny', inline: undefined, zero: 'undefined' },
} as const;

export function compileJsonDecoder(name: TypeName, resolve: TypeResolver): JsonDecoder {
  const references: CompiledType[] = [];
  const refer = (field: FieldDescriptor) => {
    references.push(resolve(field.ref!));
    return `t${references.length - 1}`;
  };
  const descriptor = schemaType(name);
  const body = jsonFields(name).map((field) => fieldSource(field, refer, isItems(name, field)));
  if (descriptor.typeMeta) body.unshift(...['kind', 'apiVersion'].map(typeMetaSource));
  const source = `
    "use strict";
    ${references.map((_, index) => `const t${index} = types[${index}];`).join(' ')}
    const empty = Object.freeze({});
    return function decode(x, depth) {
      if (typeof x !== "object" || x === null || Array.isArray(x)) throw h.wrongType("an object", x);
      if (depth > ${objectDepthMax}) throw h.tooDeep();
      const o = {};
      let v, at = "";
      try {
        ${body.join('\n        ')}
      } catch (error) {
        throw h.within(error, at);
      }
      return o;
    };`;
  return new Function('types', 'h', source)(references, helpers) as JsonDecoder;
}

/** Lists that are kinds always have their `items`. */
function isItems(name: TypeName, field: FieldDescriptor): boolean {
  return Boolean(schemaType(name).kind && field.name === 'items' && field.required);
}

function typeMetaSource(name: string): string {
  return fieldSource({ name, number: 0, kind: 'string' }, () => '', false);
}

function fieldSource(
  field: FieldDescriptor,
  refer: (field: FieldDescriptor) => string,
  fill: boolean,
): string {
  const key = JSON.stringify(field.name);
  const isMessage = field.kind === 'message';
  if (field.cardinality === 'list') {
    const decode = isMessage
      ? `h.decodeMessageList(v, ${refer(field)}, depth + 1)`
      : `h.decodeList(v, h.${scalarOf(field).decoder})`;
    const keep = field.always ? '' : 'if (v.length > 0) ';
    const absent = fill ? ` else o[${key}] = [];` : '';
    return `v = x[${key}]; if (v != null) { at = ${key}; v = ${decode}; ${keep}o[${key}] = v; }${absent}`;
  }
  if (field.cardinality === 'map') {
    const decode = isMessage
      ? `h.decodeMessageMap(v, ${refer(field)}, depth + 1)`
      : `h.decodeMap(v, h.${scalarOf(field).decoder})`;
    const keep = field.always ? '' : 'if (!h.isEmptyMap(v)) ';
    return `v = x[${key}]; if (v != null) { at = ${key}; v = ${decode}; ${keep}o[${key}] = v; }`;
  }
  return isMessage ? messageSource(field, key, refer(field)) : scalarSource(field, key);
}

function messageSource(field: FieldDescriptor, key: string, type: string): string {
  if (encodingOf(field) === undefined) {
    const absent = field.nullable ? '' : ` else o[${key}] = ${type}.decode(empty, depth + 1);`;
    return `v = x[${key}]; if (v != null) { at = ${key}; o[${key}] = ${type}.decode(v, depth + 1); }${absent}`;
  }
  const absent = field.nullable ? 'undefined' : `${type}.zero(depth)`;
  return `v = x[${key}]; at = ${key}; v = v != null ? ${type}.decode(v, depth + 1) : ${absent}; if (v !== undefined) o[${key}] = v;`;
}

function scalarOf(field: FieldDescriptor): (typeof scalars)[keyof typeof scalars] {
  if (field.kind === 'message') throw new RangeError(`${field.name} is no scalar`);
  return scalars[field.kind];
}

function scalarSource(field: FieldDescriptor, key: string): string {
  const { decoder, inline, zero } = scalarOf(field);
  const check = inline
    ? `if (typeof v !== "${inline}") { at = ${key}; throw h.wrongType("a ${inline}", v); }`
    : `at = ${key}; v = h.${decoder}(v);`;
  const keep = field.nullable || field.always ? '' : `if (v !== ${zero}) `;
  const fillsZero = field.always && !field.nullable && field.kind !== 'bytes';
  const absent = fillsZero ? ` else o[${key}] = ${zero};` : '';
  return `v = x[${key}]; if (v != null) { ${check} ${keep}o[${key}] = v; }${absent}`;
}
