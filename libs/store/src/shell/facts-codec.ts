/** Bytes of the facts that are written along with the records: checksum first, then the numbers. */
import { crc32c } from '@orch/raft';
import type { Facts } from '../core/state-machine.js';
import { StoreError } from '../versioned-store.js';

const FACTS_BYTES = 68;

export function encodeFacts(facts: Facts): Buffer {
  const bytes = Buffer.alloc(FACTS_BYTES);
  bytes.writeUInt32BE(facts.hash, 4);
  bytes.writeDoubleBE(facts.appliedIndex, 8);
  bytes.writeDoubleBE(facts.revision, 16);
  bytes.writeDoubleBE(facts.compactedRevision, 24);
  bytes.writeDoubleBE(facts.timeMs, 32);
  bytes.writeDoubleBE(facts.keyCount, 40);
  bytes.writeDoubleBE(facts.liveBytes, 48);
  bytes.writeDoubleBE(facts.liveRevisions, 56);
  bytes.writeUInt32BE(facts.proposersChecksum, 64);
  bytes.writeUInt32BE(crc32c(bytes, 0, 4), 0);
  return bytes;
}

/** Throws StoreError `Corrupt`. */
export function decodeFacts(bytes: Buffer): Facts {
  if (bytes.length !== FACTS_BYTES || crc32c(bytes, 0, 4) !== bytes.readUInt32BE(0)) {
    throw new StoreError(
      'Corrupt',
      'the state’s applied index does not match its checksum: restore this data directory from a backup or another replica',
    );
  }
  return {
    hash: bytes.readUInt32BE(4),
    appliedIndex: bytes.readDoubleBE(8),
    revision: bytes.readDoubleBE(16),
    compactedRevision: bytes.readDoubleBE(24),
    timeMs: bytes.readDoubleBE(32),
    keyCount: bytes.readDoubleBE(40),
    liveBytes: bytes.readDoubleBE(48),
    liveRevisions: bytes.readDoubleBE(56),
    proposersChecksum: bytes.readUInt32BE(64),
  };
}

export function encodeSwept(revision: number): Buffer {
  const bytes = Buffer.alloc(12);
  bytes.writeDoubleBE(revision, 4);
  bytes.writeUInt32BE(crc32c(bytes, 0, 4), 0);
  return bytes;
}

/** Throws StoreError `Corrupt`. */
export function decodeSwept(bytes: Buffer): number {
  if (bytes.length === 12 && crc32c(bytes, 0, 4) === bytes.readUInt32BE(0)) {
    return bytes.readDoubleBE(4);
  }
  throw new StoreError(
    'Corrupt',
    'the note of what was dropped does not match its checksum: restore this data directory from a backup or another replica',
  );
}
