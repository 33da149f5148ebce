/**
 * A block of a table of LevelDB: rows in the order of their keys, then the offsets of some of them,
 * where searches begin. A key shares its first bytes with the one before.
 */
import { LevelFormatError, LevelReader } from './level-bytes.js';

/** Where a block is in its file. */
export interface BlockPlace {
  readonly start: number;
  readonly byteCount: number;
}

interface BlockRow {
  /** From the start of the block. */
  readonly at: number;
  readonly sharedBytes: number;
  readonly keyEnd: Buffer;
  readonly value: Buffer;
}

const offsetBytes = 4;
/** Behind the key of the writer: sequence and kind of the write. */
const keySuffixBytes = 8;
/** 0: the key is deleted, 1: it is written. */
const writeKindMax = 1;
const uncompressed = 0;

export class LevelBlock {
  readonly rows: readonly BlockRow[];
  private readonly searchOffsets: readonly number[];

  /** Throws LevelFormatError, also if the block is compressed. */
  constructor(table: Buffer, place: BlockPlace) {
    const { start, byteCount } = place;
    const end = start + byteCount;
    const offsetCount = byteCount < offsetBytes ? 0 : table.readUInt32LE(end - offsetBytes);
    const rowsEnd = end - offsetBytes * (offsetCount + 1);
    if (isCompressed(table, place) || rowsEnd < start) {
      throw new LevelFormatError('an unknown kind of block');
    }
    const reader = new LevelReader(table, start, rowsEnd);
    const rows: BlockRow[] = [];
    while (!reader.isAtEnd) {
      const at = reader.position - start;
      const sharedBytes = reader.number();
      const keyBytes = reader.number();
      const valueBytes = reader.number();
      const keyEnd = reader.take(keyBytes);
      rows.push({ at, sharedBytes, keyEnd, value: reader.take(valueBytes) });
    }
    this.rows = rows;
    this.searchOffsets = Array.from({ length: offsetCount }, (_, index) =>
      table.readUInt32LE(rowsEnd + offsetBytes * index),
    );
  }

  /**
   * Throws LevelFormatError if LevelDB cannot search the rows, or their keys are not in order,
   * behind `after` and at most `last`.
   */
  checkKeys(after: Buffer | undefined, last: Buffer): void {
    const searched = new Set<number>();
    let before = after;
    let key = Buffer.alloc(0);
    for (const { at, sharedBytes, keyEnd } of this.rows) {
      if (sharedBytes > key.length) throw new LevelFormatError('a key shares too many bytes');
      key = Buffer.concat([key.subarray(0, sharedBytes), keyEnd]);
      if (key.length < keySuffixBytes) throw new LevelFormatError('a key is too short');
      if (key[key.length - keySuffixBytes]! > writeKindMax) {
        throw new LevelFormatError('an unknown kind of write');
      }
      if (before && compareKeys(before, key) >= 0) throw new LevelFormatError('keys in disorder');
      if (sharedBytes === 0) searched.add(at);
      before = key;
    }
    if (before && compareKeys(before, last) > 0) throw new LevelFormatError('keys in disorder');
    if (!this.searchOffsets.every((offset) => searched.has(offset))) {
      throw new LevelFormatError('an offset of no row');
    }
  }
}

/** Whether the byte behind the block says that it is compressed. */
export function isCompressed(table: Buffer, { start, byteCount }: BlockPlace): boolean {
  return table[start + byteCount] !== uncompressed;
}

/** Ascending by the key of the writer, then the newest write first. */
function compareKeys(a: Buffer, b: Buffer): number {
  const [aEnd, bEnd] = [a.length - keySuffixBytes, b.length - keySuffixBytes];
  const order = a.compare(b, 0, bEnd, 0, aEnd);
  if (order !== 0) return order;
  const [aSuffix, bSuffix] = [a.readBigUInt64LE(aEnd), b.readBigUInt64LE(bEnd)];
  return aSuffix === bSuffix ? 0 : aSuffix > bSuffix ? -1 : 1;
}
