/**
 * Types that hold any JSON: objects of unknown kinds, field sets, schema values. On the wire they
 * are the bytes of a JSON text; an embedded object may also be encoded in its envelope. Bytes that
 * are already encoded can be given as a `Uint8Array` and are written unchanged.
 */

import type { Encoding } from '../descriptors/descriptor.js';
import { type CompiledType, type PlainObject, putOwn, type TypeResolver } from './compiled-type.js';
import { isEnvelope, readEnvelope, writeEnvelopeFields } from './envelope.js';
import { decodeAny } from './json-values.js';
import { ProtobufReader } from './protobuf-reader.js';
import { kindNamed } from './registry.js';
import { SchemaError } from './schema-error.js';

export function freeFormType(encoding: Encoding, resolve: TypeResolver): CompiledType {
  const isUnknown = encoding === 'unknownEnvelope';
  return {
    zero: () => undefined,
    decode: (value, depth) => decodeAny(value, depth),
    write(writer, value) {
      if (value === undefined) return;
      if (isUnknown) {
        writeEnvelopeFields(writer, '', '', jsonBytes(value), 'application/json');
        return;
      }
      writer.bytes(value instanceof Uint8Array ? value : jsonBytes(value));
      writer.tag(10);
    },
    read(reader, _into, depth) {
      if (isUnknown) return readJson(readEnvelope(reader).raw, resolve, depth);
      let raw: Buffer | undefined;
      while (reader.position < reader.end) {
        const tag = reader.tag();
        if (tag === 10) raw = reader.bytes();
        else reader.skip(tag);
      }
      return raw === undefined ? undefined : readJson(raw, resolve, depth);
    },
  };
}

function jsonBytes(value: unknown): Buffer {
  return Buffer.from(JSON.stringify(value));
}

function readJson(raw: Buffer, resolve: TypeResolver, depth: number): unknown {
  if (raw.length === 0) return undefined;
  if (isEnvelope(raw)) return readEmbedded(raw, resolve, depth);
  let value: unknown;
  try {
    value = JSON.parse(raw.toString('utf8'));
  } catch {
    throw new SchemaError('embedded value is not JSON');
  }
  return decodeAny(value, depth);
}

/** Reads an object that is embedded in another one with its own kind. */
function readEmbedded(bytes: Buffer, resolve: TypeResolver, depth: number): unknown {
  const reader = new ProtobufReader(bytes);
  reader.position = 4;
  const { apiVersion, kind, raw } = readEnvelope(reader);
  const name = kindNamed(apiVersion, kind);
  if (!name) throw new SchemaError(`no kind ${kind} in ${apiVersion}`);
  const type = resolve(name.type);
  const object: PlainObject = {};
  putOwn(object, 'kind', kind);
  putOwn(object, 'apiVersion', apiVersion);
  return type.decode(type.read(new ProtobufReader(raw), object, depth + 1), depth + 1);
}
