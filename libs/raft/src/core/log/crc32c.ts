/**
 * CRC32C (Castagnoli), eight bytes a step. It guards log entries and stored records against torn
 * and flipped bytes; it is no defence against an attacker.
 */

import { invariant } from '../invariant.js';

const reflectedPolynomial = 0x82f63b78;
const slicingTables = buildTables();
const [T0, T1, T2, T3, T4, T5, T6, T7] = slicingTables as [
  Int32Array,
  Int32Array,
  Int32Array,
  Int32Array,
  Int32Array,
  Int32Array,
  Int32Array,
  Int32Array,
];

/**
 * Checksum of `bytes[start, end)` as an unsigned 32-bit number. Pass an earlier result as `seed` to
 * continue over several buffers.
 */
export function crc32c(bytes: Uint8Array, seed = 0, start = 0, end = bytes.length): number {
  invariant(start >= 0 && end <= bytes.length, 'a checksum covers bytes outside of its buffer');
  let crc = ~seed;
  let at = start;
  for (const last = end - 8; at <= last; at += 8) {
    const low =
      crc ^ (bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24));
    crc =
      T7[low & 255]! ^
      T6[(low >>> 8) & 255]! ^
      T5[(low >>> 16) & 255]! ^
      T4[low >>> 24]! ^
      T3[bytes[at + 4]!]! ^
      T2[bytes[at + 5]!]! ^
      T1[bytes[at + 6]!]! ^
      T0[bytes[at + 7]!]!;
  }
  for (; at < end; at += 1) crc = T0[(crc ^ bytes[at]!) & 255]! ^ (crc >>> 8);
  return ~crc >>> 0;
}

function buildTables(): Int32Array[] {
  const first = new Int32Array(256);
  for (let byte = 0; byte < 256; byte += 1) {
    let crc = byte;
    for (let bit = 0; bit < 8; bit += 1) {
      crc = crc & 1 ? (crc >>> 1) ^ reflectedPolynomial : crc >>> 1;
    }
    first[byte] = crc;
  }
  const tables = [first];
  for (let step = 1; step < 8; step += 1) {
    const before = tables[step - 1]!;
    tables.push(before.map((crc) => first[crc & 255]! ^ (crc >>> 8)));
  }
  return tables;
}
