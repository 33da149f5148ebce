/** How LevelDB writes numbers and checksums into its files. */
import { readFile } from 'node:fs/promises';
import { crc32c } from '../../core/log/crc32c.js';

/** A file is not what LevelDB writes. */
export class LevelFormatError extends Error {}

const maskDelta = 0xa282ead8;

export async function readIfThere(file: string): Promise<Buffer | undefined> {
  try {
    return await readFile(file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/** The checksum as LevelDB stores it, so that a checksum of stored checksums is not weak. */
export function maskedChecksum(bytes: Uint8Array, start: number, end: number): number {
  const crc = crc32c(bytes, 0, start, end);
  return (((crc >>> 15) | (crc << 17)) + maskDelta) >>> 0;
}

/** Reads `bytes[at, end)` from its start. Every method throws LevelFormatError at the end. */
export class LevelReader {
  constructor(
    private readonly bytes: Buffer,
    private at = 0,
    private readonly end = bytes.length,
  ) {}

  get position(): number {
    return this.at;
  }

  get isAtEnd(): boolean {
    return this.at >= this.end;
  }

  /** A number of at most 2^53. */
  number(): number {
    let value = 0;
    for (let factor = 1; factor < 2 ** 53; factor *= 128) {
      if (this.isAtEnd) throw new LevelFormatError('a number is truncated');
      const byte = this.bytes[this.at++]!;
      value += (byte & 127) * factor;
      if (byte < 128) return value;
    }
    throw new LevelFormatError('a number is too large');
  }

  take(count: number): Buffer {
    if (count > this.end - this.at) throw new LevelFormatError('a value is truncated');
    this.at += count;
    return this.bytes.subarray(this.at - count, this.at);
  }
}
