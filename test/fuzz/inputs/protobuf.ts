/** Unknown and malformed fields of protobuf messages, to be inserted between valid ones. */
import fc from 'fast-check';
import { damagedBytes } from './bytes.js';

/** The shortest form, or one of `bytes` bytes with zeros in the upper ones. */
function varint(value: bigint, bytes = 0): Buffer {
  const result: number[] = [];
  let rest = value;
  do {
    result.push(Number(rest & 0x7fn));
    rest >>= 7n;
  } while (rest > 0n || result.length < bytes);
  return Buffer.from(result.map((byte, at) => (at < result.length - 1 ? byte | 0x80 : byte)));
}

function tag(number: number, wireType: number): Buffer {
  return varint(BigInt(number) * 8n + BigInt(wireType));
}

const fieldNumber = fc.oneof(
  { weight: 6, arbitrary: fc.integer({ min: 1, max: 20 }) },
  { weight: 1, arbitrary: fc.constantFrom(0, 15, 16, 2047, 536_870_911) },
);
const number64 = fc.oneof(
  fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }),
  fc.bigInt({ min: 0n, max: 300n }),
);
const payload = fc.uint8Array({ maxLength: 24 }).map((bytes) => Buffer.from(bytes));

const field: fc.Arbitrary<Buffer> = fc.oneof(
  // Numbers of up to twelve bytes, two more than the format allows.
  fc
    .tuple(fieldNumber, number64, fc.nat(12))
    .map(([number, value, bytes]) => Buffer.concat([tag(number, 0), varint(value, bytes)])),
  fc
    .tuple(fieldNumber, fc.uint8Array({ minLength: 8, maxLength: 8 }))
    .map(([number, bytes]) => Buffer.concat([tag(number, 1), bytes])),
  fc
    .tuple(fieldNumber, payload)
    .map(([number, bytes]) => Buffer.concat([tag(number, 2), varint(BigInt(bytes.length)), bytes])),
  // A length beyond the end.
  fc
    .tuple(fieldNumber, number64, payload)
    .map(([number, length, bytes]) => Buffer.concat([tag(number, 2), varint(length), bytes])),
  fc
    .tuple(fieldNumber, fc.uint8Array({ minLength: 4, maxLength: 4 }))
    .map(([number, bytes]) => Buffer.concat([tag(number, 5), bytes])),
  // Groups in groups, closed, left open or closed by another.
  fc
    .tuple(fieldNumber, fc.nat(400), fc.constantFrom(0, 1), fc.boolean())
    .map(([number, depth, off, closes]) => {
      const opening = new Array<Buffer>(depth).fill(tag(number, 3));
      const closing = new Array<Buffer>(closes ? depth : 0).fill(tag(number + off, 4));
      return Buffer.concat([...opening, ...closing]);
    }),
  // Nested messages of the same field, each with a valid length.
  fc.tuple(fieldNumber, fc.nat(300)).map(([number, depth]) => {
    let inner: Buffer = Buffer.alloc(0);
    for (let level = 0; level < depth; level += 1) {
      inner = Buffer.concat([tag(number, 2), varint(BigInt(inner.length)), inner]);
    }
    return inner;
  }),
  fc.tuple(fieldNumber, fc.constantFrom(6, 7)).map(([number, wireType]) => tag(number, wireType)),
);

const extraFields = fc.oneof(
  fc.constant(Buffer.alloc(0)),
  fc.array(field, { minLength: 1, maxLength: 3 }).map((all) => Buffer.concat(all)),
);

/** Messages with further fields before and after, some of them damaged. */
export function changedMessage(valid: fc.Arbitrary<Buffer>): fc.Arbitrary<Buffer> {
  const message = fc.tuple(extraFields, valid, extraFields).map((parts) => Buffer.concat(parts));
  return damagedBytes(message);
}

/** A field of bytes, such as a message, as another message holds it. */
export function lengthDelimited(number: number, bytes: Buffer): Buffer {
  return Buffer.concat([tag(number, 2), varint(BigInt(bytes.length)), bytes]);
}
