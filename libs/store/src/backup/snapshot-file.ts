/**
 * Backups as files: the state as one stream of checked chunks. Readers read all of it and check
 * every record, so that a backup which can be inspected can be restored.
 */
import { createReadStream } from 'node:fs';
import type { Row } from '@orch/raft';
import { Continuity } from '../core/continuity.js';
import { decodeRecord } from '../core/record.js';
import { SequenceWindow } from '../core/sequence-window.js';
import type { Facts } from '../core/state-machine.js';
import type { ReplicatedStore } from '../replicated-store.js';
import { StateStreamReader } from '../snapshot/state-stream.js';
import { StoreError } from '../versioned-store.js';

export interface SnapshotFacts {
  readonly revision: number;
  /** Oldest revision that can still be read. */
  readonly compactedRevision: number;
  readonly appliedIndex: number;
  readonly keyCount: number;
  /** Payload bytes of live keys. */
  readonly valueBytes: number;
  /** Highest time of an applied command, in milliseconds since the epoch. */
  readonly timeMs: number;
  /** The running hash that replicas compare. */
  readonly stateHash: number;
  /** Bytes of the stream without its framing, and their CRC32C. */
  readonly byteCount: number;
  readonly checksum: number;
}

/** Yields the bytes of a backup of the present state, at the reader's pace. */
export async function* saveSnapshot(store: ReplicatedStore): AsyncGenerator<Buffer, void> {
  const snapshot = await store.openSnapshot();
  try {
    for (let chunk = await snapshot.next(); chunk; chunk = await snapshot.next()) yield chunk;
  } finally {
    await snapshot.close();
  }
}

/** Reads and checks a backup. Rejects with StoreError or LogError `Corrupt`, or a file error. */
export async function inspectSnapshot(file: string): Promise<SnapshotFacts> {
  const stream = new StateStreamReader();
  const check = new ContentCheck();
  for await (const chunk of snapshotChunks(file)) {
    for (const row of stream.take(chunk)) check.row(row);
  }
  const { facts, sweptRevision, byteCount, checksum } = stream.finish();
  check.agreesWith(facts, sweptRevision);
  const { revision, compactedRevision, appliedIndex, keyCount, liveBytes, timeMs, hash } = facts;
  return {
    revision,
    compactedRevision,
    appliedIndex,
    keyCount,
    valueBytes: liveBytes,
    timeMs,
    stateHash: hash,
    byteCount,
    checksum,
  };
}

export function snapshotChunks(file: string): AsyncIterable<Buffer> {
  return createReadStream(file, { highWaterMark: 256 * 1024 });
}

/** Checks records and their sums without storing them. */
class ContentCheck {
  private lastRevision = 0;
  private readonly continuity = new Continuity();
  private proposersChecksum = 0;
  private readonly live = new Map<
    string,
    { readonly revision: number; readonly byteCount: number }
  >();

  row([key, value]: Row): void {
    if (key.toString('latin1', 0, 2) === 'p/') {
      const window = SequenceWindow.decode(key.toString('latin1', 2), value);
      this.proposersChecksum = (this.proposersChecksum ^ window.checksum) >>> 0;
      return;
    }
    const record = decodeRecord(key, value);
    const { entry, deleted } = record;
    this.continuity.take(record, this.live.get(entry.key));
    this.lastRevision = entry.revision;
    if (deleted) this.live.delete(entry.key);
    else {
      const { revision, bytes } = entry;
      this.live.set(entry.key, { revision, byteCount: bytes.length });
    }
  }

  /** Throws StoreError `Corrupt`. */
  agreesWith(facts: Facts, sweptRevision: number): void {
    const { revision, compactedRevision, keyCount, liveBytes, liveRevisions, proposersChecksum } =
      facts;
    this.continuity.end(revision);
    let bytes = 0;
    let revisions = 0;
    for (const live of this.live.values()) {
      bytes += live.byteCount;
      revisions += live.revision;
    }
    const whole =
      this.continuity.brokenRevision <= Math.max(compactedRevision, sweptRevision) &&
      this.lastRevision <= revision &&
      this.live.size === keyCount &&
      bytes === liveBytes &&
      revisions === liveRevisions &&
      this.proposersChecksum === proposersChecksum;
    if (!whole) throw new StoreError('Corrupt', 'the records of the backup do not fit its facts');
  }
}
