/**
 * The record of one version of one key in the state database, under `v/` + revision + position. It
 * has two checksums: one of the payload (computed at apply), one of the database key, the header
 * and the payload's checksum, so that an undamaged record under a wrong key is detected as well.
 *
 *   u32 header checksum | u32 payload checksum | u8 format | u8 flags | u48 created | u48 expiry
 *   | u32 revision offset | u48 previous revision | u16 key bytes | key | payload
 */
import { invariant } from '@orch/component';
import { crc32c } from '@orch/raft';
import { keyBytesMax } from '../limits.js';
import { type Revision, StoreError } from '../versioned-store.js';
import { StoredEntry } from './stored-entry.js';

const recordFormat = 2;
const deletedFlag = 1;
/** The last record of its revision. */
const lastFlag = 2;
const headerBytes = 34;
const versionKeyBytes = 14;

export interface VersionRecord {
  /** For a deletion: the last version, with the revision of the deletion. */
  readonly entry: StoredEntry;
  readonly deleted: boolean;
  /** Whether this is the last record of its revision. */
  readonly last: boolean;
  /** Revision of the version that this one supersedes; 0: the key did not exist. */
  readonly previousRevision: number;
}

/** Returns the database key of a version: the database orders by revision, then by position. */
export function versionKey(revision: number, position: number): Buffer {
  invariant(revision > 0, 'a version has no revision', { revision });
  invariant(position >= 0, 'a version has no position', { revision, position });
  const key = Buffer.allocUnsafe(versionKeyBytes);
  key[0] = 0x76; // v
  key[1] = 0x2f; // /
  key.writeBigUInt64BE(BigInt(revision), 2);
  key.writeUInt32BE(position, 10);
  return key;
}

export function encodeRecord(databaseKey: Buffer, record: VersionRecord): Buffer {
  const { entry, deleted, last, previousRevision } = record;
  invariant(previousRevision < entry.revision, 'a version supersedes a newer one', {
    key: entry.key,
    revision: entry.revision,
    previousRevision,
  });
  invariant(databaseKey.length === versionKeyBytes, 'the key of a record has the wrong size');
  const keyRoom = entry.key.length * 3;
  const scratch = Buffer.allocUnsafe(headerBytes + keyRoom + entry.bytes.length);
  const keyBytes = scratch.write(entry.key, headerBytes);
  const payloadStart = headerBytes + keyBytes;
  invariant(keyBytes <= keyBytesMax, 'the key of a record is too long', { key: entry.key });
  scratch.writeUInt32BE(entry.checksum, 4);
  scratch[8] = recordFormat;
  scratch[9] = (deleted ? deletedFlag : 0) | (last ? lastFlag : 0);
  scratch.writeUIntBE(entry.createRevision, 10, 6);
  scratch.writeUIntBE(entry.expiresAtMs, 16, 6);
  scratch.writeUInt32BE(entry.revisionOffset, 22);
  scratch.writeUIntBE(previousRevision, 26, 6);
  scratch.writeUInt16BE(keyBytes, 32);
  scratch.writeUInt32BE(crc32c(scratch, crc32c(databaseKey), 4, payloadStart), 0);
  entry.bytes.copy(scratch, payloadStart);
  return scratch.subarray(0, payloadStart + entry.bytes.length);
}

/**
 * Throws StoreError `Corrupt` if the key names no version, a checksum does not match or the numbers
 * contradict each other.
 */
export function decodeRecord(databaseKey: Buffer, record: Buffer): VersionRecord {
  if (databaseKey.length !== versionKeyBytes) {
    throw new StoreError(
      'Corrupt',
      `a record is stored under a key of ${databaseKey.length} bytes, not ${versionKeyBytes}: restore this data directory from a backup or another replica`,
    );
  }
  const revision = Number(databaseKey.readBigUInt64BE(2)) as Revision;
  if (record.length < headerBytes) throw damaged(revision);
  const payloadStart = headerBytes + record.readUInt16BE(32);
  const checksum = record.readUInt32BE(4);
  if (
    payloadStart > record.length ||
    crc32c(record, crc32c(databaseKey), 4, payloadStart) !== record.readUInt32BE(0) ||
    crc32c(record, 0, payloadStart) !== checksum
  ) {
    throw damaged(revision);
  }
  if (record[8] !== recordFormat) {
    throw new StoreError(
      'Corrupt',
      `a record of format ${record[8]} is in the state database, this program reads format ${recordFormat}: use the version that wrote it`,
    );
  }
  const createRevision = record.readUIntBE(10, 6) as Revision;
  const revisionOffset = record.readUInt32BE(22);
  const previousRevision = record.readUIntBE(26, 6);
  if (
    createRevision > revision ||
    previousRevision >= revision ||
    revisionOffset > record.length - payloadStart
  ) {
    throw damaged(revision, 'has numbers that contradict each other');
  }
  const entry = new StoredEntry(
    record.toString('utf8', headerBytes, payloadStart),
    record.subarray(payloadStart),
    createRevision,
    revision,
    databaseKey.readUInt32BE(10),
    revisionOffset,
    record.readUIntBE(16, 6),
    checksum,
  );
  const flags = record[9]!;
  return {
    entry,
    deleted: (flags & deletedFlag) !== 0,
    last: (flags & lastFlag) !== 0,
    previousRevision,
  };
}

function damaged(revision: Revision, how = 'does not match its checksum'): StoreError {
  return new StoreError(
    'Corrupt',
    `the record of revision ${revision} ${how}: restore this data directory from a backup or another replica`,
    revision,
  );
}
