/**
 * What every type, generated or with a JSON form of its own, can do once compiled. Codecs of types call
 * each other through this and nothing else.
 */
import type { Encoding, FieldDescriptor, TypeName } from './descriptor.js';
import type { ProtobufReader } from './protobuf-reader.js';
import type { ProtobufWriter } from './protobuf-writer.js';
import { schemaType } from './registry.js';

export interface CompiledType {
  /** JSON of a value that is absent where one must be; undefined: stays absent. */
  zero(depth: number): unknown;
  /** Checks and normalises. Undefined: the value means absent. Throws SchemaError. */
  decode(value: unknown, depth: number): unknown;
  /** Writes the members, back to front; undefined writes the zero value. Throws SchemaError. */
  write(writer: ProtobufWriter, value: unknown): void;
  /**
   * Reads the members up to `reader.end` into `into`, as JSON that is yet to be decoded.
   * Undefined: the zero value.
   */
  read(reader: ProtobufReader, into: unknown, depth: number): unknown;
}

/** Finds the compiled type of a reference; compiled at first use. */
export type TypeResolver = (name: TypeName) => CompiledType;

export type PlainObject = Record<string, unknown>;

/** Fields as they stand in JSON: inlined members in the place of the field that brings them. */
export function jsonFields(name: TypeName): FieldDescriptor[] {
  return schemaType(name).fields.flatMap((field) =>
    field.inline && field.ref ? jsonFields(field.ref) : [field],
  );
}

export function encodingOf(field: FieldDescriptor): Encoding | undefined {
  return field.ref ? schemaType(field.ref).encoding : undefined;
}

/** Sets a key as plain data, whatever its name. */
export function putOwn(object: PlainObject, key: string, value: unknown): void {
  if (key === '__proto__') {
    const property = { value, enumerable: true, configurable: true, writable: true };
    Object.defineProperty(object, key, property);
  } else {
    object[key] = value;
  }
}
