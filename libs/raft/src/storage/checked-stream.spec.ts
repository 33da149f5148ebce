import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CheckedStreamReader, CheckedStreamWriter } from './checked-stream.js';

function encode(payloads: readonly Buffer[]): Buffer[] {
  const writer = new CheckedStreamWriter();
  return [...payloads.map((payload) => writer.chunk(payload)), writer.trailer()];
}

function decode(chunks: readonly Buffer[]): Buffer {
  const reader = new CheckedStreamReader();
  const payloads = chunks.flatMap((chunk) => reader.take(chunk));
  reader.finish();
  return Buffer.concat(payloads);
}

const payloads = fc.array(
  fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes)),
  { maxLength: 8 },
);

describe('a checked stream', () => {
  it('gives back what went in, however it is divided', () => {
    fc.assert(
      fc.property(payloads, fc.integer({ min: 1, max: 500 }), (given, pieceBytes) => {
        const whole = Buffer.concat(encode(given));
        const pieces: Buffer[] = [];
        for (let at = 0; at < whole.length; at += pieceBytes) {
          pieces.push(whole.subarray(at, at + pieceBytes));
        }
        expect(decode(pieces)).toEqual(Buffer.concat(given));
      }),
    );
  });

  it('finds a flipped bit, a missing, repeated or swapped chunk and an early end', () => {
    const chunks = encode(['one', 'two', 'three'].map((text) => Buffer.from(text)));
    const [first, second, third, trailer] = chunks as [Buffer, Buffer, Buffer, Buffer];
    for (let bit = 0; bit < second.length * 8; bit += 1) {
      const flipped = Buffer.from(second);
      flipped[bit >>> 3]! ^= 1 << (bit & 7);
      expect(() => decode([first, flipped, third, trailer])).toThrow();
    }
    for (const bad of [
      [first, third, trailer],
      [first, second, second, third, trailer],
      [first, third, second, trailer],
      [first, second, third],
      [first, second, trailer],
      [first, second, third, trailer.subarray(0, 10)],
      [...chunks, first],
    ]) {
      expect(() => decode(bad)).toThrow(expect.objectContaining({ code: 'Corrupt' }));
    }
  });
});
