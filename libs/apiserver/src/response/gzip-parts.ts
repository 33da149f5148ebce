/**
 * A gzip file that is put together from a short head, which is stored as it is, and a long rest,
 * which was compressed before. A list differs from an earlier one with the same objects only in its
 * head, which has the revision, so that the rest is compressed once.
 */
import { once } from 'node:events';
import { crc32, createDeflateRaw } from 'node:zlib';
import { invariant } from '@orch/component';

/** The compressed rest of a body: a whole raw deflate stream. */
export interface CompressedRest {
  readonly bytes: Buffer;
  /** The checksum of the uncompressed bytes. */
  readonly crc: number;
  readonly length: number;
}

/** Deflate, no flags, no time, fastest algorithm, unknown system (RFC 1952). */
const gzipHead = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 4, 255]);
const storedBlockBytesMax = 0xffff;
const storedBlockHeadBytes = 5;
const trailerBytes = 8;
/** The polynomial of CRC-32, bits reversed. */
const polynomial = 0xedb88320;

/** Compresses the blocks on another thread; the caller may reuse a block after its turn. */
export async function compressRest(
  writeBlocks: (write: (block: Buffer) => Promise<void>) => Promise<void>,
): Promise<CompressedRest> {
  const deflate = createDeflateRaw({ level: 1 });
  const chunks: Buffer[] = [];
  deflate.on('data', (chunk: Buffer) => chunks.push(chunk));
  const ended = once(deflate, 'end');
  let crc = 0;
  let length = 0;
  await writeBlocks(async (block) => {
    crc = crc32(block, crc);
    length += block.length;
    if (!deflate.write(Buffer.from(block))) await once(deflate, 'drain');
  });
  deflate.end();
  await ended;
  return { bytes: Buffer.concat(chunks), crc, length };
}

/** The parts of the gzip file of `head` followed by the uncompressed rest. */
export function gzipParts(head: Buffer, rest: CompressedRest): Buffer[] {
  invariant(head.length <= storedBlockBytesMax, 'a list has a head that no stored block holds');
  const block = Buffer.alloc(storedBlockHeadBytes);
  block.writeUInt16LE(head.length, 1);
  block.writeUInt16LE(~head.length & 0xffff, 3);
  const trailer = Buffer.alloc(trailerBytes);
  trailer.writeUInt32LE(joinedCrc(crc32(head), rest.crc, rest.length), 0);
  trailer.writeUInt32LE((head.length + rest.length) % 2 ** 32, 4);
  return [Buffer.concat([gzipHead, block, head]), rest.bytes, trailer];
}

/**
 * Returns the CRC-32 of two texts in a row, from the CRC of each: that of the first is multiplied
 * by x to the power of the bits of the second, modulo the polynomial.
 */
export function joinedCrc(first: number, second: number, secondBytes: number): number {
  return (product(powerOfBytes(secondBytes), first) ^ second) >>> 0;
}

/** x to the power of 8 times `bytes`, by repeated squaring. */
function powerOfBytes(bytes: number): number {
  let result = 0x80000000;
  let square = 0x00800000;
  for (let left = bytes; left > 0; left = Math.floor(left / 2)) {
    if (left % 2 === 1) result = product(square, result);
    square = product(square, square);
  }
  return result;
}

/** The product of two polynomials modulo that of CRC-32; the highest bit is the constant term. */
function product(left: number, right: number): number {
  let sum = 0;
  let shifted = right;
  for (let bit = 0x80000000; bit !== 0; bit >>>= 1) {
    if ((left & bit) !== 0) sum ^= shifted;
    shifted = (shifted & 1) === 1 ? (shifted >>> 1) ^ polynomial : shifted >>> 1;
  }
  return sum >>> 0;
}
