/**
 * Generates, per type, the functions that encode to and decode from protobuf. Fields are written by
 * number, maps by key; scalars that may not be absent are always written. Reading yields the shape
 * of JSON only: the JSON decoder checks and completes it. Generated as source text for the same
 * reason as the JSON decoder.
 */

import type { FieldDescriptor, FieldKind, TypeName } from '../descriptors/descriptor.js';
import { objectDepthMax } from '../limits.js';
import { type CompiledType, encodingOf, putOwn, type TypeResolver } from './compiled-type.js';
import { tooDeep } from './json-values.js';
import type { ProtobufReader } from './protobuf-reader.js';
import type { ProtobufWriter } from './protobuf-writer.js';
import { schemaType } from './registry.js';
import { SchemaError, within, wrongType } from './schema-error.js';

const wireVarint = 0;
const wireFixed64 = 1;
const wireLength = 2;

/** Wire type, and the calls that write `v` and read a value. */
const scalars: Record<
  Exclude<FieldKind, 'message' | 'any'>,
  { wire: number; write: string; read: string; zero: string }
> = {
  string: { wire: wireLength, write: 'w.string', read: 'r.string()', zero: '""' },
  bool: { wire: wireVarint, write: 'w.bool', read: 'r.bool()', zero: 'false' },
  int32: { wire: wireVarint, write: 'w.int', read: 'r.int32()', zero: '0' },
  int64: { wire: wireVarint, write: 'w.int', read: 'r.int64()', zero: '0' },
  double: { wire: wireFixed64, write: 'w.double', read: 'r.double()', zero: '0' },
  bytes: { wire: wireLength, write: 'w.base64', read: 'r.base64()', zero: '""' },
};

const helpers = { within, tooDeep, sortedKeys, elements, object, putOwn };

type Refer = (field: FieldDescriptor) => string;
export type MessageWriter = (writer: ProtobufWriter, value: unknown) => void;
export type MessageReader = (reader: ProtobufReader, into: unknown, depth: number) => unknown;

export function compileMessageWriter(name: TypeName, resolve: TypeResolver): MessageWriter {
  if (schemaType(name).jsonOnly) return () => refuse(name);
  return compile(name, resolve, (fields, refer) => {
    const body = [...fields].reverse().map((field) => writeSource(field, refer));
    return `return function write(w, value) {
      const o = h.object(value);
      let v, m, at = "";
      try {
        ${body.join('\n        ')}
      } catch (error) {
        throw h.within(error, at);
      }
    };`;
  }) as MessageWriter;
}

export function compileMessageReader(name: TypeName, resolve: TypeResolver): MessageReader {
  if (schemaType(name).jsonOnly) return () => refuse(name);
  return compile(name, resolve, (fields, refer) => {
    const cases = fields.map((field) => readSource(field, refer));
    return `return function read(r, into, depth) {
      if (depth > ${objectDepthMax}) throw h.tooDeep();
      const o = into === undefined ? {} : into;
      while (r.position < r.end) {
        const tag = r.tag();
        switch (tag) {
          ${cases.join('\n          ')}
          default: r.skip(tag);
        }
      }
      return o;
    };`;
  }) as MessageReader;
}

function compile(
  name: TypeName,
  resolve: TypeResolver,
  source: (fields: readonly FieldDescriptor[], refer: Refer) => string,
): unknown {
  const types: CompiledType[] = [];
  const refer: Refer = (field) => {
    types.push(resolve(field.ref!));
    return `t${types.length - 1}`;
  };
  const fields = [...schemaType(name).fields].sort((a, b) => a.number - b.number);
  const body = source(fields, refer);
  const names = types.map((_, index) => `const t${index} = types[${index}];`).join(' ');
  return new Function('types', 'h', `"use strict"; ${names} ${body}`)(types, helpers);
}

function refuse(name: TypeName): never {
  throw new SchemaError(`${name} has no protobuf form`);
}

function scalarOf(field: FieldDescriptor): (typeof scalars)[keyof typeof scalars] {
  if (field.kind === 'message' || field.kind === 'any') {
    throw new RangeError(`${field.name} is no protobuf scalar`);
  }
  return scalars[field.kind];
}

function tagOf(field: FieldDescriptor): number {
  const isScalar = field.kind !== 'message' && field.cardinality !== 'map';
  return field.number * 8 + (isScalar ? scalarOf(field).wire : wireLength);
}

function writeSource(field: FieldDescriptor, refer: Refer): string {
  const key = JSON.stringify(field.name);
  const tag = `w.tag(${tagOf(field)});`;
  const isMessage = field.kind === 'message';
  const message = (value: string) =>
    `m = w.length; ${refer(field)}.write(w, ${value}); w.prefix(m);`;
  if (field.inline) return `${message('o')} ${tag}`;
  const writeElement = (value: string) =>
    isMessage ? message(value) : `${scalarOf(field).write}(${value});`;
  const get = `v = o[${key}]; at = ${key};`;
  if (field.cardinality === 'list') {
    return `${get} if (v != null) { const list = h.elements(v); for (let i = list.length - 1; i >= 0; i--) { ${writeElement('list[i]')} ${tag} } }`;
  }
  if (field.cardinality === 'map') {
    const valueTag = 2 * 8 + (isMessage ? wireLength : scalarOf(field).wire);
    return `${get} if (v != null) { const keys = h.sortedKeys(v), map = v; for (let i = keys.length - 1; i >= 0; i--) { const start = w.length; ${writeElement('map[keys[i]]')} w.tag(${valueTag}); w.string(keys[i]); w.tag(10); w.prefix(start); ${tag} } }`;
  }
  // Empty slices are not written, although they may not be absent in JSON.
  const isSlice = field.kind === 'bytes' || encodingOf(field) === 'stringList';
  if (field.nullable || isSlice) return `${get} if (v != null) { ${writeElement('v')} ${tag} }`;
  if (isMessage) return `${get} ${message('v')} ${tag}`;
  return `${get} ${writeElement(`v == null ? ${scalarOf(field).zero} : v`)} ${tag}`;
}

function readSource(field: FieldDescriptor, refer: Refer): string {
  const key = JSON.stringify(field.name);
  const tag = tagOf(field);
  const enter = 'const outer = r.enter();';
  if (field.inline) {
    return `case ${tag}: { ${enter} ${refer(field)}.read(r, o, depth + 1); r.leave(outer); break; }`;
  }
  if (field.cardinality === 'map') {
    return `case ${tag}: { ${enter} ${mapEntrySource(field, refer)} r.leave(outer); h.putOwn(o[${key}] ??= {}, k, v); break; }`;
  }
  const list = `(o[${key}] ??= [])`;
  if (field.kind === 'message') {
    const into = field.cardinality === 'list' ? 'undefined' : `o[${key}]`;
    const read = `${enter} const v = ${refer(field)}.read(r, ${into}, depth + 1); r.leave(outer);`;
    const store = field.cardinality === 'list' ? `${list}.push(v);` : `o[${key}] = v;`;
    return `case ${tag}: { ${read} ${store} break; }`;
  }
  const { read, wire } = scalarOf(field);
  if (field.cardinality !== 'list') return `case ${tag}: o[${key}] = ${read}; break;`;
  const single = `case ${tag}: ${list}.push(${read}); break;`;
  if (wire === wireLength) return single;
  const packed = `case ${field.number * 8 + wireLength}: { ${enter} while (r.position < r.end) ${list}.push(${read}); r.leave(outer); break; }`;
  return `${single} ${packed}`;
}

function mapEntrySource(field: FieldDescriptor, refer: Refer): string {
  const isMessage = field.kind === 'message';
  const type = isMessage ? refer(field) : '';
  const zero = isMessage ? `${type}.zero(depth)` : scalarOf(field).zero;
  const valueTag = 2 * 8 + (isMessage ? wireLength : scalarOf(field).wire);
  const read = isMessage
    ? `{ const inner = r.enter(); v = ${type}.read(r, undefined, depth + 1); r.leave(inner); break; }`
    : `v = ${scalarOf(field).read}; break;`;
  return `let k = "", v = ${zero}; while (r.position < r.end) { const entry = r.tag(); switch (entry) { case 10: k = r.string(); break; case ${valueTag}: ${read} default: r.skip(entry); } }`;
}

function object(value: unknown): object {
  if (value === undefined || value === null) return {};
  if (typeof value !== 'object' || Array.isArray(value)) throw wrongType('an object', value);
  return value;
}

function elements(value: unknown): unknown[] {
  if (!Array.isArray(value)) throw wrongType('a list', value);
  return value;
}

function sortedKeys(value: unknown): string[] {
  return Object.keys(object(value)).sort();
}
