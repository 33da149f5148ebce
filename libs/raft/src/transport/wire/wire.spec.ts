/** The generated codecs against the schema as another library reads it, and against damage. */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import protobuf from 'protobufjs';
import { describe, expect, it } from 'vitest';
import { asLogIndex, asMemberId, asTerm } from '../../core/brands.js';
import type { Message } from '../../core/messages.js';
import * as wire from '../generated/wire.js';
import { decodeFrame, encodeFrame } from './frame.js';
import { type Codec, WireError, WireReader } from './wire-reader.js';
import { Sizes, uintSize, WireWriter } from './wire-writer.js';

const path = join(import.meta.dirname, '../../../../../proto/orch/raft/raft.proto');
const schema = protobuf.parse(readFileSync(path, 'utf8'), { keepCase: true }).root;
schema.resolveAll();

/** Values of a message as the codecs take them, drawn from its schema. */
function arbitraryOf(type: protobuf.Type): fc.Arbitrary<Record<string, unknown>> {
  if (type.oneofs && 'kind' in type.oneofs) {
    return fc.oneof(
      ...type.fieldsArray.map((field) =>
        arbitraryOf(field.resolvedType as protobuf.Type).map((body) => ({
          kind: field.name,
          ...body,
        })),
      ),
    );
  }
  return fc.record(
    Object.fromEntries(
      type.fieldsArray.map((field) => {
        const one = arbitraryField(field);
        if (field.repeated) return [field.name, fc.array(one, { maxLength: 4 })];
        return [
          field.name,
          field.options?.proto3_optional ? fc.option(one, { nil: undefined }) : one,
        ];
      }),
    ),
  );
}

function arbitraryField(field: protobuf.Field): fc.Arbitrary<unknown> {
  if (field.resolvedType instanceof protobuf.Enum) {
    return fc.constantFrom(...Object.keys(field.resolvedType.values));
  }
  if (field.resolvedType) return arbitraryOf(field.resolvedType);
  switch (field.type) {
    case 'uint64':
      return fc.oneof(fc.maxSafeNat(), fc.nat(300));
    case 'fixed32':
      return fc.integer({ min: 0, max: 0xffff_ffff });
    case 'bool':
      return fc.boolean();
    case 'double':
      // Minus zero is written as zero.
      return fc.double({ noNaN: true }).map((value) => value + 0);
    case 'bytes':
      return fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes));
    default:
      return fc.string({ unit: 'grapheme', maxLength: 40 });
  }
}

/** The same value as the other library takes it: a union as one set field. */
function toLibrary(type: protobuf.Type, value: Record<string, unknown>): Record<string, unknown> {
  if (type.oneofs && 'kind' in type.oneofs) {
    const { kind, ...body } = value;
    const field = type.fields[kind as string]!;
    return { [field.name]: toLibrary(field.resolvedType as protobuf.Type, body) };
  }
  const entries = type.fieldsArray.flatMap((field): [string, unknown][] => {
    const own = value[field.name];
    if (own === undefined) return [];
    const convert = (one: unknown): unknown => {
      if (field.resolvedType instanceof protobuf.Enum) {
        return field.resolvedType.values[one as string];
      }
      if (!field.resolvedType) return one;
      return toLibrary(field.resolvedType, one as Record<string, unknown>);
    };
    return [[field.name, field.repeated ? (own as unknown[]).map(convert) : convert(own)]];
  });
  return Object.fromEntries(entries);
}

function encode<Body>(codec: Codec<Body>, body: Body): Buffer {
  const sizes = new Sizes();
  const bytes = Buffer.alloc(codec.size(body, sizes));
  const writer = new WireWriter(bytes, sizes);
  codec.write(body, writer);
  expect(writer.at).toBe(bytes.length);
  return bytes;
}

function decode<Body>(codec: Codec<Body>, bytes: Buffer): Body {
  return codec.read(new WireReader(bytes), bytes.length);
}

const codecs = Object.entries(wire).map(
  ([name, codec]) => [name.replace(/Codec$/, ''), codec as Codec<Record<string, unknown>>] as const,
);

const messages = (schema.lookup('raft.v1') as protobuf.Namespace).nestedArray.filter(
  (type) => type instanceof protobuf.Type,
);
const unions = messages.filter(({ oneofs }) => oneofs && 'kind' in oneofs);

describe('generated codecs', () => {
  it.each(codecs)('%s is read and written as the schema says', (name, codec) => {
    const type = schema.lookupType(`raft.v1.${name}`);
    fc.assert(
      fc.property(arbitraryOf(type), (drawn) => {
        const isVariant = unions.some(({ fieldsArray }) =>
          fieldsArray.some((f) => f.type === name),
        );
        const kind = `${name[0]!.toLowerCase()}${name.slice(1)}`;
        const value = isVariant ? { kind, ...drawn } : drawn;
        const bytes = encode(codec, value);
        const library = type.encode(type.fromObject(toLibrary(type, drawn))).finish();
        expect(decode(codec, bytes)).toEqual(value);
        expect(decode(codec, Buffer.from(library))).toEqual(value);
        // The other library writes a zero where the program set one; ours leaves it out.
        const back = type.decode(bytes);
        const otherBack = type.decode(library);
        expect(type.toObject(back, { defaults: true })).toEqual(
          type.toObject(otherBack, { defaults: true }),
        );
      }),
      { numRuns: 60 },
    );
  });

  it('covers every message of the schema but the unions and the frame itself', () => {
    const covered = codecs.map(([name]) => name);
    const missing = messages.filter(({ name }) => !covered.includes(name));
    expect(missing).toEqual(unions);
    expect(unions.length).toBeGreaterThan(1);
  });

  it('ignores unknown fields and kinds of a newer version', () => {
    const newer = protobuf.parse(
      `syntax = "proto3";
       message ToPeer { repeated Message messages = 2; string extra = 900; }
       message Message { oneof kind { TimeoutNow timeoutNow = 11; TimeoutNow later = 77; } }
       message TimeoutNow { string from = 1; string to = 2; uint64 term = 3; bytes more = 50;
         fixed64 f = 51; fixed32 g = 52; }`,
    ).root;
    const type = newer.lookupType('ToPeer');
    const known = { from: 'a', to: 'b', term: 7, more: Buffer.from('x'), f: 1, g: 2 };
    const bytes = type
      .encode(
        type.fromObject({ messages: [{ later: known }, { timeoutNow: known }], extra: 'word' }),
      )
      .finish();
    expect(decode(wire.ToPeerCodec, Buffer.from(bytes)).messages).toEqual([
      { kind: 'timeoutNow', from: 'a', to: 'b', term: 7 },
    ]);
  });

  it('refuses numbers that no number of JavaScript holds exactly', () => {
    expect(() => uintSize(-1)).toThrow(RangeError);
    expect(() => uintSize(1.5)).toThrow(RangeError);
    expect(() => uintSize(2 ** 53)).toThrow(RangeError);
    const above = Buffer.from([0x08, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x10]);
    expect(() => decode(wire.PingCodec, above)).toThrow(WireError);
    expect(decode(wire.PingCodec, encode(wire.PingCodec, { id: 2 ** 53 - 1 })).id).toBe(
      2 ** 53 - 1,
    );
  });
});

const append: Message = {
  kind: 'appendRequest',
  from: asMemberId('a000000000000001'),
  to: asMemberId('a000000000000002'),
  term: asTerm(3),
  previous: { index: asLogIndex(9), term: asTerm(2), checksum: 0xdead_beef },
  entries: [
    {
      index: asLogIndex(10),
      term: asTerm(3),
      kind: 'command',
      data: Buffer.from('one'),
      checksum: 1,
    },
    { index: asLogIndex(11), term: asTerm(3), kind: 'empty', data: Buffer.alloc(0), checksum: 2 },
  ],
  commitIndex: asLogIndex(8),
  notice: false,
};
const body: wire.ToPeer = { messages: [append] };

describe('a frame', () => {
  it('is the Frame of the schema', () => {
    const type = schema.lookupType('raft.v1.Frame');
    const frame = encodeFrame(wire.ToPeerCodec, body);
    const read = type.toObject(type.decode(frame)) as { checksum: number; body: Buffer };
    expect(decode(wire.ToPeerCodec, Buffer.from(read.body)).messages).toEqual([append]);
    const other = Buffer.from(type.encode(type.fromObject(read)).finish());
    expect(decodeFrame(wire.ToPeerCodec, other).messages).toEqual([append]);
  });

  it('returns slices of the received buffer', () => {
    const frame = encodeFrame(wire.ToPeerCodec, body);
    const [message] = decodeFrame(wire.ToPeerCodec, frame).messages;
    expect(message?.kind === 'appendRequest' && message.entries[0]!.data.buffer).toBe(frame.buffer);
  });

  it('is rejected with any bit flipped, and with any end truncated', () => {
    const frame = encodeFrame(wire.ToPeerCodec, body);
    for (let bit = 0; bit < frame.length * 8; bit += 1) {
      const damaged = Buffer.from(frame);
      damaged[bit >> 3]! ^= 1 << (bit & 7);
      expect(() => decodeFrame(wire.ToPeerCodec, damaged), `bit ${bit}`).toThrow(WireError);
    }
    for (let length = 0; length < frame.length; length += 1) {
      expect(() => decodeFrame(wire.ToPeerCodec, frame.subarray(0, length))).toThrow(WireError);
    }
  });

  it('made of anything throws nothing but WireError', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 80 }), (bytes) => {
        for (const [, codec] of codecs) {
          try {
            decode(codec, Buffer.from(bytes));
          } catch (error) {
            expect(error).toBeInstanceOf(WireError);
          }
        }
      }),
    );
  });
});
