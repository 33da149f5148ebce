/**
 * Codecs of the API types: one object per type, compiled on first use and cached. In memory an
 * object is plain data in its JSON shape: bytes are base64 text, times and quantities are text,
 * int64 is a number (exact up to 2^53).
 */

import { dialect } from '@orch/component';
import type { TypeDescriptor, TypeName } from '../descriptors/descriptor.js';
import type { CompiledType, PlainObject } from './compiled-type.js';
import { type Defaulter, defaulterFor } from './defaults.js';
import { encodedType } from './encodings.js';
import { compileJsonDecoder } from './json-codec.js';
import { compileMessageReader, compileMessageWriter } from './protobuf-codec.js';
import { ProtobufReader } from './protobuf-reader.js';
import { ProtobufWriter } from './protobuf-writer.js';
import { type KindName, kindNames, schemaType, splitTypeName } from './registry.js';

const compiledTypes = new Map<TypeName, CompiledType>();
const codecs = new Map<TypeName, Codec<unknown>>();
const writer = new ProtobufWriter();
let kindsByType: Map<TypeName, KindName> | undefined;

/** The codec of a type such as `core/v1.Pod`. Throws RangeError if the type does not exist. */
export function codecFor<T = PlainObject>(name: TypeName): Codec<T> {
  let codec = codecs.get(name);
  if (!codec) {
    codec = new Codec(name);
    codecs.set(name, codec);
  }
  return codec as Codec<T>;
}

export class Codec<T> {
  readonly descriptor: TypeDescriptor;
  /** The `apiVersion` and `kind` of objects of the type; absent for types that are not kinds. */
  readonly typeMeta: KindName | undefined;
  private readonly type: CompiledType;
  private defaulter: Defaulter | undefined;

  constructor(readonly name: TypeName) {
    this.descriptor = schemaType(name);
    this.type = compiledType(name);
    kindsByType ??= new Map(kindNames().map((kind) => [kind.type, kind]));
    this.typeMeta = kindsByType.get(name);
  }

  /**
   * Checks a parsed JSON value and returns it in normal form: drops unknown fields and nulls, omits
   * empty optional fields, adds fields that are always written, and orders fields as in the schema.
   * Null counts as the empty object. Maps, lists of scalars and free-form values may be shared with
   * the input; the input is not changed. Throws SchemaError.
   */
  fromJson(value: unknown): T {
    return this.type.decode(value ?? {}, 0) as T;
  }

  /** The canonical JSON text: equal objects have equal texts. Throws SchemaError. */
  toJson(object: T): string {
    return JSON.stringify(this.fromJson(object));
  }

  /** Sets constant defaults in place. */
  setDefaults(object: T): void {
    this.defaulter ??= defaulterFor(this.name);
    this.defaulter(object as PlainObject);
  }

  /** Encodes the object's message, without an envelope. Throws SchemaError. */
  toProtobuf(object: T): Buffer {
    writer.reset();
    this.type.write(writer, object);
    return writer.take();
  }

  /**
   * Decodes an object into normal form; kinds get their `kind` and `apiVersion`. Throws
   * SchemaError.
   */
  fromProtobuf(bytes: Uint8Array): T {
    const view = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const { typeMeta } = this;
    const into = typeMeta && {
      kind: typeMeta.kind,
      apiVersion: dialect().apiVersion(typeMeta.groupHead, typeMeta.version),
    };
    return this.type.decode(this.type.read(new ProtobufReader(view), into, 0), 0) as T;
  }
}

/** The functions of a type; each is compiled on its first call. */
function compiledType(name: TypeName): CompiledType {
  const known = compiledTypes.get(name);
  if (known) return known;
  const { encoding } = schemaType(name);
  const type = encoding
    ? encodedType(encoding, splitTypeName(name).file, compiledType)
    : plainType(name);
  compiledTypes.set(name, type);
  return type;
}

function plainType(name: TypeName): CompiledType {
  const type: CompiledType = {
    zero: (depth) => type.decode({}, depth),
    decode(value, depth) {
      type.decode = compileJsonDecoder(name, compiledType);
      return type.decode(value, depth);
    },
    write(target, value) {
      type.write = compileMessageWriter(name, compiledType);
      type.write(target, value);
    },
    read(reader, into, depth) {
      type.read = compileMessageReader(name, compiledType);
      return type.read(reader, into, depth);
    },
  };
  return type;
}
