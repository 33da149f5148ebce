/** Types with their own JSON encoding: scalars in JSON that are messages on the wire. */

import type { Encoding } from '../descriptors/descriptor.js';
import { canonicalQuantity, QuantityError } from '../quantity/quantity.js';
import type { CompiledType, TypeResolver } from './compiled-type.js';
import { freeFormType } from './free-form.js';
import { decodeInt32, decodeList, decodeString } from './json-values.js';
import type { ProtobufReader } from './protobuf-reader.js';
import type { ProtobufWriter } from './protobuf-writer.js';
import { SchemaError, wrongType } from './schema-error.js';
import { schemaUnionType } from './schema-unions.js';
import {
  canonicalMicroTimeText,
  canonicalTimeText,
  durationText,
  type Moment,
  microTimeText,
  parseDuration,
  parseMoment,
  timeText,
} from './time-encoding.js';

export function encodedType(encoding: Encoding, file: string, resolve: TypeResolver): CompiledType {
  switch (encoding) {
    case 'time':
      return momentType(canonicalTimeText, timeText, 0);
    case 'microTime':
      return momentType(canonicalMicroTimeText, microTimeText, 1);
    case 'duration':
      return duration;
    case 'quantity':
      return quantity;
    case 'intOrString':
      return intOrString;
    case 'stringList':
      return stringList;
    case 'rawExtension':
    case 'fieldsV1':
    case 'anyJson':
    case 'unknownEnvelope':
      return freeFormType(encoding, resolve);
    case 'schemaOrArray':
    case 'schemaOrBool':
    case 'schemaOrStringArray':
      return schemaUnionType(encoding, `${file}.JSONSchemaProps`, resolve);
  }
}

/** `nanosKept`: 1 if fractions of a second are encoded, else 0. */
function momentType(
  canonical: (value: unknown) => string | undefined,
  text: (moment: Moment) => string | undefined,
  nanosKept: 0 | 1,
): CompiledType {
  return {
    zero: () => undefined,
    decode: canonical,
    write(writer, value) {
      if (value === undefined || value === null) return;
      const moment = typeof value === 'string' ? parseMoment(value) : undefined;
      if (!moment) throw wrongType('a time in RFC 3339 form', value);
      writer.int(moment.nanos * nanosKept);
      writer.tag(16);
      writer.int(moment.seconds);
      writer.tag(8);
    },
    read(reader) {
      if (reader.position === reader.end) return undefined;
      let seconds = 0;
      let nanos = 0;
      eachField(reader, (tag) => {
        if (tag === 8) seconds = reader.int64();
        else if (tag === 16) nanos = reader.int32();
        else return false;
        return true;
      });
      if (nanos < 0 || nanos > 999_999_999) throw new SchemaError('nanoseconds out of range');
      return text({ seconds, nanos });
    },
  };
}

/**
 * Calls `take` for every field up to the end of the message; skips the fields it does not accept.
 */
function eachField(reader: ProtobufReader, take: (tag: number) => boolean): void {
  while (reader.position < reader.end) {
    const tag = reader.tag();
    if (!take(tag)) reader.skip(tag);
  }
}

const duration: CompiledType = {
  zero: () => '0s',
  decode: (value) => durationText(parseDuration(value)),
  write(writer, value) {
    writer.bigInt(value === undefined || value === null ? 0n : parseDuration(value));
    writer.tag(8);
  },
  read(reader) {
    let nanos = 0n;
    eachField(reader, (tag) => {
      if (tag !== 8) return false;
      nanos = reader.bigInt();
      return true;
    });
    return durationText(nanos);
  },
};

function decodeQuantity(value: unknown): string {
  if (typeof value !== 'string' && typeof value !== 'number') throw wrongType('a quantity', value);
  try {
    return canonicalQuantity(value);
  } catch (error) {
    if (error instanceof QuantityError) throw new SchemaError(error.message);
    throw error;
  }
}

const quantity: CompiledType = {
  zero: () => '0',
  decode: decodeQuantity,
  write(writer, value) {
    writer.string(value === undefined || value === null ? '0' : decodeQuantity(value));
    writer.tag(10);
  },
  read(reader) {
    let text = '';
    eachField(reader, (tag) => {
      if (tag !== 10) return false;
      text = reader.string();
      return true;
    });
    return text === '' ? '0' : text;
  },
};

const intOrString: CompiledType = {
  zero: () => 0,
  decode: (value) => (typeof value === 'string' ? value : decodeInt32(value)),
  write(writer: ProtobufWriter, value: unknown) {
    const isText = typeof value === 'string';
    writer.string(isText ? value : '');
    writer.tag(26);
    writer.int(isText ? 0 : (value ?? 0));
    writer.tag(16);
    writer.varint(isText ? 1 : 0);
    writer.tag(8);
  },
  read(reader) {
    let kind = 0;
    let number = 0;
    let text = '';
    eachField(reader, (tag) => {
      if (tag === 8) kind = reader.int64();
      else if (tag === 16) number = reader.int32();
      else if (tag === 26) text = reader.string();
      else return false;
      return true;
    });
    if (kind !== 0 && kind !== 1) throw new SchemaError('neither an integer nor a string');
    return kind === 1 ? text : number;
  },
};

const stringList: CompiledType = {
  zero: () => undefined,
  decode: (value) => decodeList(value, decodeString),
  write(writer, value) {
    if (value === undefined || value === null) return;
    for (const element of decodeList(value, decodeString).toReversed()) {
      writer.string(element);
      writer.tag(10);
    }
  },
  read(reader) {
    const list: string[] = [];
    eachField(reader, (tag) => {
      if (tag !== 10) return false;
      list.push(reader.string());
      return true;
    });
    return list;
  },
};
