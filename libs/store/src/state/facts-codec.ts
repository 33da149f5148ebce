/** Encoding of the facts that are written with the records: checksum first, then the numbers. */
import { crc32c } from '@orch/raft';
import { emptyFacts, type Facts } from '../core/state-machine.js';
import { StoreError } from '../versioned-store.js';

const factsBytes = 68;

export function encodeFacts(facts: Facts): Buffer {
  const bytes = Buffer.alloc(factsBytes);
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
  if (bytes.length !== factsBytes || crc32c(bytes, 0, 4) !== bytes.readUInt32BE(0)) {
    throw new StoreError(
      'Corrupt',
      'the facts of the state do not match their checksum: restore this data directory from a backup or another replica',
    );
  }
  return checkFacts({
    hash: bytes.readUInt32BE(4),
    appliedIndex: bytes.readDoubleBE(8),
    revision: bytes.readDoubleBE(16),
    compactedRevision: bytes.readDoubleBE(24),
    timeMs: bytes.readDoubleBE(32),
    keyCount: bytes.readDoubleBE(40),
    liveBytes: bytes.readDoubleBE(48),
    liveRevisions: bytes.readDoubleBE(56),
    proposersChecksum: bytes.readUInt32BE(64),
  });
}

/** Returns `facts`. Throws StoreError `Corrupt` if they are not counts that agree. */
export function checkFacts(facts: Facts): Facts {
  const names = Object.keys(emptyFacts) as (keyof Facts)[];
  const areCounts = names.every((name) => Number.isInteger(facts[name]) && facts[name] >= 0);
  if (areCounts && facts.compactedRevision <= facts.revision) return facts;
  throw new StoreError(
    'Corrupt',
    'the facts of the state contradict each other: restore this data directory from a backup or another replica',
  );
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
    'the swept revision does not match its checksum: restore this data directory from a backup or another replica',
  );
}
