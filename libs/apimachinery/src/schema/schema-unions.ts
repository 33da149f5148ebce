/** Members of custom resource schemas that are either a schema or a simpler value. */
import type { CompiledType, TypeResolver } from './compiled-type.js';
import { decodeList, decodeMessageList, decodeString } from './json-values.js';
import type { ProtobufReader } from './protobuf-reader.js';
import type { ProtobufWriter } from './protobuf-writer.js';
import { wrongType } from './schema-error.js';

export type SchemaUnion = 'schemaOrArray' | 'schemaOrBool' | 'schemaOrStringArray';

/**
 * With a list, the schema is field 1 and the list field 2; with a boolean, the boolean is field 1
 * and the schema field 2.
 */
export function schemaUnionType(
  union: SchemaUnion,
  schemaName: string,
  resolve: TypeResolver,
): CompiledType {
  const schema = () => resolve(schemaName);
  if (union === 'schemaOrBool') return schemaOrBool(schema);
  const isStrings = union === 'schemaOrStringArray';
  return {
    zero: () => undefined,
    decode(value, depth) {
      if (!Array.isArray(value)) return schema().decode(value, depth);
      return isStrings
        ? decodeList(value, decodeString)
        : decodeMessageList(value, schema(), depth + 1);
    },
    write(writer, value) {
      if (value === undefined || value === null) return;
      if (!Array.isArray(value)) {
        writeSchema(writer, schema(), value, 10);
        return;
      }
      for (const element of value.toReversed()) {
        if (isStrings) {
          writer.string(element);
          writer.tag(18);
        } else {
          writeSchema(writer, schema(), element, 18);
        }
      }
    },
    read(reader, _into, depth) {
      let single: unknown;
      const list: unknown[] = [];
      while (reader.position < reader.end) {
        const tag = reader.tag();
        if (tag === 10) single = readSchema(reader, schema(), depth);
        else if (tag === 18)
          list.push(isStrings ? reader.string() : readSchema(reader, schema(), depth));
        else reader.skip(tag);
      }
      return single === undefined ? list : single;
    },
  };
}

function schemaOrBool(schema: () => CompiledType): CompiledType {
  return {
    zero: () => false,
    decode: (value, depth) => (typeof value === 'boolean' ? value : schema().decode(value, depth)),
    write(writer, value) {
      if (typeof value === 'object' && value !== null) writeSchema(writer, schema(), value, 18);
      else if (value != null && typeof value !== 'boolean') throw wrongType('a schema', value);
      writer.bool(typeof value === 'object' ? value !== null : Boolean(value));
      writer.tag(8);
    },
    read(reader, _into, depth) {
      let allows = false;
      let single: unknown;
      while (reader.position < reader.end) {
        const tag = reader.tag();
        if (tag === 8) allows = reader.bool();
        else if (tag === 18) single = readSchema(reader, schema(), depth);
        else reader.skip(tag);
      }
      return single === undefined ? allows : single;
    },
  };
}

function writeSchema(
  writer: ProtobufWriter,
  schema: CompiledType,
  value: unknown,
  tag: number,
): void {
  const mark = writer.length;
  schema.write(writer, value);
  writer.prefix(mark);
  writer.tag(tag);
}

function readSchema(reader: ProtobufReader, schema: CompiledType, depth: number): unknown {
  const outer = reader.enter();
  const value = schema.read(reader, undefined, depth + 1);
  reader.leave(outer);
  return value;
}
