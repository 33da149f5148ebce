/**
 * The operations of a compiled type, generated or with its own JSON encoding. Codecs of types call
 * each other through this interface only.
 */
import type { Encoding, FieldDescriptor, TypeName } from '../descriptors/descriptor.js';
import type { ProtobufReader } from './protobuf-reader.js';
import type { ProtobufWriter } from './protobuf-writer.js';
import { schemaType } from './registry.js';

export interface CompiledType {
  /** The JSON of an absent value that must be present; undefined if it stays absent. */
  zero(depth: number): unknown;
  /** Checks and normalises. Undefined: the value counts as absent. Throws SchemaError. */
  decode(value: unknown, depth: number): unknown;
  /** Writes the members, last to first; undefined writes the zero value. Throws SchemaError. */
  write(writer: ProtobufWriter, value: unknown): void;
  /**
   * Reads the members up to `reader.end` into `into`, as JSON that is not decoded yet. Undefined:
   * the zero value.
   */
  read(reader: ProtobufReader, into: unknown, depth: number): unknown;
}

/** Returns the compiled type of a reference; compiles it on first use. */
export type TypeResolver = (name: TypeName) => CompiledType;

export type PlainObject = Record<string, unknown>;

/** Reports whether the members of the value can be read; a list counts, null does not. */
export function hasMembers(value: unknown): value is PlainObject {
  return typeof value === 'object' && value !== null;
}

/** Fields as in JSON: inlined members replace the field that holds them. */
export function jsonFields(name: TypeName): FieldDescriptor[] {
  return schemaType(name).fields.flatMap((field) =>
    field.inline && field.ref ? jsonFields(field.ref) : [field],
  );
}

export function encodingOf(field: FieldDescriptor): Encoding | undefined {
  return field.ref ? schemaType(field.ref).encoding : undefined;
}

/** Sets a key as an own property, whatever its name. */
export function putOwn(object: PlainObject, key: string, value: unknown): void {
  if (key === '__proto__') {
    const property = { value, enumerable: true, configurable: true, writable: true };
    Object.defineProperty(object, key, property);
  } else {
    object[key] = value;
  }
}
