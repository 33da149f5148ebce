/**
 * Keys and records of the local log. Entries lie under `e` + index (8 bytes, big-endian), so that
 * the database's order is the log's; hard facts under `h/`. A record's checksum covers its index
 * too: a good record in the wrong place is found as well.
 */
import { crc32c } from '../crc32c.js';
import { type CommittedEntry, LogError, type LogIndex } from '../replicated-log.js';

const CHECKSUM_BYTES = 4;
const KEY_BYTES = 9;
const ENTRY_PREFIX = 0x65; // e

/** The index of the oldest entry kept; what is below it may linger on disk until the next start. */
export const FIRST_INDEX_KEY = Buffer.from('h/first');

export function entryKey(index: number): Buffer {
  const key = Buffer.allocUnsafe(KEY_BYTES);
  key[0] = ENTRY_PREFIX;
  key.writeBigUInt64BE(BigInt(index), 1);
  return key;
}

export function encodeEntry(key: Buffer, command: Buffer): Buffer {
  const record = Buffer.allocUnsafe(CHECKSUM_BYTES + command.length);
  record.writeUInt32BE(crc32c(command, crc32c(key)), 0);
  command.copy(record, CHECKSUM_BYTES);
  return record;
}

/** Throws LogError `Corrupt` when the record does not match its checksum. */
export function decodeEntry(key: Buffer, record: Buffer): CommittedEntry {
  const index = Number(key.readBigUInt64BE(1)) as LogIndex;
  if (
    record.length < CHECKSUM_BYTES ||
    crc32c(record, crc32c(key), CHECKSUM_BYTES) !== record.readUInt32BE(0)
  ) {
    throw new LogError(
      'Corrupt',
      `log entry ${index} does not match its checksum: restore this data directory from a backup or another replica`,
    );
  }
  return { index, command: record.subarray(CHECKSUM_BYTES) };
}

export function encodeIndex(index: number): Buffer {
  const value = Buffer.allocUnsafe(8 + CHECKSUM_BYTES);
  value.writeBigUInt64BE(BigInt(index), 0);
  value.writeUInt32BE(crc32c(value, 0, 0, 8), 8);
  return value;
}

export function decodeIndex(value: Buffer): LogIndex {
  if (value.length !== 12 || crc32c(value, 0, 0, 8) !== value.readUInt32BE(8)) {
    throw new LogError(
      'Corrupt',
      'the log’s first index does not match its checksum: restore this data directory from a backup or another replica',
    );
  }
  return Number(value.readBigUInt64BE(0)) as LogIndex;
}
