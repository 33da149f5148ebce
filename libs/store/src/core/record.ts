/**
 * One version of one key as it lies in the state database, under `v/` + revision + position. Two
 * checksums: one for the payload (known since apply), one for the key in the database, the header
 * and the payload's checksum, so that a good record in the wrong place is found as well.
 *
 *   u32 header checksum | u32 payload checksum | u8 format | u8 flags | u48 created | u48 expiry
 *   | u32 revision offset | u48 previous revision | u16 key bytes | key | payload
 */
import { crc32c } from '@orch/raft';
import { type Revision, StoreError } from '../versioned-store.js';
import { StoredEntry } from './stored-entry.js';

const FORMAT = 2;
const DELETED = 1;
/** Of the records of its revision. */
const LAST = 2;
const HEADER_BYTES = 34;
const VERSION_KEY_BYTES = 14;

export interface VersionRecord {
  /** For a deletion: the last version, its revision being the deletion's. */
  readonly entry: StoredEntry;
  readonly deleted: boolean;
  /** No further record is of this revision. */
  readonly last: boolean;
  /** Of the version that this one supersedes; 0: the key was not there. */
  readonly previousRevision: number;
}

/** Database key of a version: the database's order is that of revisions, then positions. */
export function versionKey(revision: number, position: number): Buffer {
  const key = Buffer.allocUnsafe(VERSION_KEY_BYTES);
  key[0] = 0x76; // v
  key[1] = 0x2f; // /
  key.writeBigUInt64BE(BigInt(revision), 2);
  key.writeUInt32BE(position, 10);
  return key;
}

export function encodeRecord(databaseKey: Buffer, record: VersionRecord): Buffer {
  const { entry, deleted, last, previousRevision } = record;
  const keyRoom = entry.key.length * 3;
  const scratch = Buffer.allocUnsafe(HEADER_BYTES + keyRoom + entry.bytes.length);
  const keyBytes = scratch.write(entry.key, HEADER_BYTES);
  const payloadStart = HEADER_BYTES + keyBytes;
  scratch.writeUInt32BE(entry.checksum, 4);
  scratch[8] = FORMAT;
  scratch[9] = (deleted ? DELETED : 0) | (last ? LAST : 0);
  scratch.writeUIntBE(entry.createRevision, 10, 6);
  scratch.writeUIntBE(entry.expiresAtMs, 16, 6);
  scratch.writeUInt32BE(entry.revisionOffset, 22);
  scratch.writeUIntBE(previousRevision, 26, 6);
  scratch.writeUInt16BE(keyBytes, 32);
  scratch.writeUInt32BE(crc32c(scratch, crc32c(databaseKey), 4, payloadStart), 0);
  entry.bytes.copy(scratch, payloadStart);
  return scratch.subarray(0, payloadStart + entry.bytes.length);
}

/** Throws StoreError `Corrupt` when the key names no version or either checksum does not match. */
export function decodeRecord(databaseKey: Buffer, record: Buffer): VersionRecord {
  if (databaseKey.length !== VERSION_KEY_BYTES) {
    throw new StoreError(
      'Corrupt',
      `a record lies under a key of ${databaseKey.length} bytes: restore this data directory from a backup or another replica`,
    );
  }
  const revision = Number(databaseKey.readBigUInt64BE(2)) as Revision;
  if (record.length < HEADER_BYTES) throw damaged(revision);
  const payloadStart = HEADER_BYTES + record.readUInt16BE(32);
  const checksum = record.readUInt32BE(4);
  if (
    payloadStart > record.length ||
    crc32c(record, crc32c(databaseKey), 4, payloadStart) !== record.readUInt32BE(0) ||
    crc32c(record, 0, payloadStart) !== checksum
  ) {
    throw damaged(revision);
  }
  if (record[8] !== FORMAT) {
    throw new StoreError(
      'Corrupt',
      `a record of format ${record[8]} is in the state database, this program reads format ${FORMAT}: use the version that wrote it`,
    );
  }
  const entry = new StoredEntry(
    record.toString('utf8', HEADER_BYTES, payloadStart),
    record.subarray(payloadStart),
    record.readUIntBE(10, 6) as Revision,
    revision,
    databaseKey.readUInt32BE(10),
    record.readUInt32BE(22),
    record.readUIntBE(16, 6),
    checksum,
  );
  const flags = record[9]!;
  return {
    entry,
    deleted: (flags & DELETED) !== 0,
    last: (flags & LAST) !== 0,
    previousRevision: record.readUIntBE(26, 6),
  };
}

function damaged(revision: Revision): StoreError {
  return new StoreError(
    'Corrupt',
    `the record of revision ${revision} does not match its checksum: restore this data directory from a backup or another replica`,
    revision,
  );
}
