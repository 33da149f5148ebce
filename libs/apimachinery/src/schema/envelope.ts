/**
 * The envelope of every protobuf body: four magic bytes, then a message with the object's kind and
 * bytes. Source: "Protobuf envelope" of the interface.
 */
import { ProtobufReader } from './protobuf-reader.js';
import { ProtobufWriter } from './protobuf-writer.js';
import { SchemaError } from './schema-error.js';

const magic = Buffer.from([0x6b, 0x38, 0x73, 0x00]);
const noBytes: Buffer = Buffer.alloc(0);
const writer = new ProtobufWriter();

export interface Envelope {
  readonly apiVersion: string;
  readonly kind: string;
  /** The object's message; a view of the input. */
  readonly raw: Buffer;
  readonly contentEncoding: string;
  /** Empty: protobuf. */
  readonly contentType: string;
}

export function isEnvelope(bytes: Uint8Array): boolean {
  if (bytes.length < magic.length) return false;
  for (let at = 0; at < magic.length; at += 1) if (bytes[at] !== magic[at]) return false;
  return true;
}

/** Wraps an object's message in its envelope. */
export function wrapUnknown(apiVersion: string, kind: string, raw: Uint8Array): Buffer {
  writer.reset();
  writeEnvelopeFields(writer, apiVersion, kind, raw, '');
  return Buffer.concat([magic, writer.take()]);
}

/** Throws SchemaError if the bytes are not an envelope. */
export function unwrapUnknown(bytes: Uint8Array): Envelope {
  if (!isEnvelope(bytes)) {
    throw new SchemaError(
      'provided data does not appear to be a protobuf message, expected prefix 6b 38 73 00',
    );
  }
  const view = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return readEnvelope(new ProtobufReader(view.subarray(magic.length)));
}

export function writeEnvelopeFields(
  target: ProtobufWriter,
  apiVersion: string,
  kind: string,
  raw: Uint8Array,
  contentType: string,
): void {
  target.string(contentType);
  target.tag(34);
  target.string('');
  target.tag(26);
  target.bytes(raw);
  target.tag(18);
  const mark = target.length;
  target.string(kind);
  target.tag(18);
  target.string(apiVersion);
  target.tag(10);
  target.prefix(mark);
  target.tag(10);
}

/** Reads the envelope's fields up to the end of the current message. */
export function readEnvelope(reader: ProtobufReader): Envelope {
  const result = { apiVersion: '', kind: '', raw: noBytes, contentEncoding: '', contentType: '' };
  while (reader.position < reader.end) {
    const tag = reader.tag();
    if (tag === 10) readTypeMeta(reader, result);
    else if (tag === 18) result.raw = reader.bytes();
    else if (tag === 26) result.contentEncoding = reader.string();
    else if (tag === 34) result.contentType = reader.string();
    else reader.skip(tag);
  }
  return result;
}

function readTypeMeta(reader: ProtobufReader, into: { apiVersion: string; kind: string }): void {
  const outer = reader.enter();
  while (reader.position < reader.end) {
    const tag = reader.tag();
    if (tag === 10) into.apiVersion = reader.string();
    else if (tag === 18) into.kind = reader.string();
    else reader.skip(tag);
  }
  reader.leave(outer);
}
