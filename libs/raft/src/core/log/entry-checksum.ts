/**
 * The chain of checksums through the log: each entry's covers the one before, so that two logs
 * which agree in one checksum hold the same entries up to it. Shared with storage and transport.
 */

import { nextIndex, noIndex, noTerm } from '../brands.js';
import type { Entry, EntryKind, LogIndex, LogPoint, Term } from '../types.js';
import { crc32c } from './crc32c.js';

/** The point before the first entry of a new cluster's log. */
export const logOrigin: LogPoint = { index: noIndex, term: noTerm, checksum: 0 };

const kindCodes: Readonly<Record<EntryKind, number>> = { command: 1, configuration: 2, empty: 3 };
const headerBytes = 21;
const header = Buffer.alloc(headerBytes);

/**
 * CRC32C over: checksum of the entry before (4 bytes), term (8), index (8), all little-endian, kind
 * (1: command, 2: configuration, 3: empty), data.
 */
export function entryChecksum(
  previousChecksum: number,
  term: Term,
  index: LogIndex,
  kind: EntryKind,
  data: Buffer,
): number {
  header.writeUInt32LE(previousChecksum, 0);
  writeInteger(term, 4);
  writeInteger(index, 12);
  header[20] = kindCodes[kind];
  return crc32c(data, crc32c(header));
}

/** Returns the entry that follows `previous`. Does not copy `data`. */
export function entryAfter(previous: LogPoint, term: Term, kind: EntryKind, data: Buffer): Entry {
  const index = nextIndex(previous.index);
  const checksum = entryChecksum(previous.checksum, term, index, kind, data);
  return { index, term, kind, data, checksum };
}

/** Whether `entry` is undamaged and comes right after `previous`. */
export function follows(previous: LogPoint, entry: Entry): boolean {
  return (
    entry.index === previous.index + 1 &&
    entry.term >= previous.term &&
    entry.checksum ===
      entryChecksum(previous.checksum, entry.term, entry.index, entry.kind, entry.data)
  );
}

function writeInteger(value: number, at: number): void {
  header.writeUInt32LE(value % 0x1_0000_0000, at);
  header.writeUInt32LE(Math.floor(value / 0x1_0000_0000), at + 4);
}
