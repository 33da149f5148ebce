/**
 * The state on disk: `v/` holds the versions, `m/applied` the facts that agree with them, `p/` the
 * command ids seen. Written without sync: after a crash the log replays the tail. The memory is
 * authoritative; this is what it is rebuilt from, and where old versions are read.
 */
import { crc32c, type Database, LogError, openDatabase } from '@orch/raft';
import { decodeRecord, type VersionRecord, versionKey } from '../core/record.js';
import { SequenceWindow } from '../core/sequence-window.js';
import type { Facts } from '../core/state-machine.js';
import type { VersionName } from '../core/versions.js';
import { SCAN_SLICE_BYTES, SCAN_SLICE_RECORDS } from '../limits.js';
import { StoreError } from '../versioned-store.js';

const FORMAT = { kind: 'state', version: 1 } as const;
const WRITE_BUFFER_BYTES = 8 * 1024 * 1024;
const CACHE_BYTES = 16 * 1024 * 1024;
const FACTS_KEY = Buffer.from('m/applied');
const FACTS_BYTES = 56;
const PROPOSER_PREFIX = 'p/';
/** Sorts after every key in use. */
const EMPTY_RANGE = [Buffer.from('z'), Buffer.from('z0')] as const;

/** One change of the database, in the order in which it was applied. */
export interface StateChange {
  readonly puts: readonly (readonly [key: Buffer, value: Buffer])[];
  readonly drops: readonly VersionName[];
  readonly proposers: ReadonlyMap<string, Buffer | undefined>;
  readonly facts: Facts;
}

export class StateDatabase {
  private constructor(private readonly database: Database) {}

  /** Rejects with StoreError `BadDirectory` or `Corrupt`. */
  static async open(directory: string): Promise<StateDatabase> {
    try {
      const options = { writeBufferBytes: WRITE_BUFFER_BYTES, cacheBytes: CACHE_BYTES };
      return new StateDatabase(await openDatabase(directory, FORMAT, options));
    } catch (error) {
      throw asStoreError(error);
    }
  }

  /** Undefined in a new database. */
  async readFacts(): Promise<Facts | undefined> {
    const bytes = await this.database.get(FACTS_KEY);
    if (bytes === undefined) return undefined;
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
    };
  }

  async readProposers(): Promise<Map<string, SequenceWindow>> {
    const proposers = new Map<string, SequenceWindow>();
    const rows = this.database.iterator({ gt: Buffer.from('p/'), lt: Buffer.from('p0') });
    for await (const [key, value] of rows) {
      proposers.set(key.toString('latin1', 2), SequenceWindow.decode(value));
    }
    return proposers;
  }

  /** Slices of records with `after` < revision <= `upTo`, checked, in order of revision. */
  async *scan(after: number, upTo: number): AsyncGenerator<VersionRecord[]> {
    const iterator = this.database.iterator({
      gte: versionKey(after + 1, 0),
      lt: versionKey(upTo + 1, 0),
      highWaterMarkBytes: SCAN_SLICE_BYTES,
    });
    try {
      for (;;) {
        const rows = await iterator.nextv(SCAN_SLICE_RECORDS);
        if (rows.length === 0) return;
        yield rows.map(([key, record]) => decodeRecord(key, record));
      }
    } finally {
      await iterator.close();
    }
  }

  /** Synchronous, since that costs a tenth of an awaited read. Throws StoreError `Corrupt`. */
  read(name: VersionName): VersionRecord {
    const key = versionKey(name.revision, name.position);
    const record = this.database.getSync(key);
    if (record === undefined) {
      throw new StoreError(
        'Corrupt',
        `the record of revision ${name.revision} is missing: restore this data directory from a backup or another replica`,
      );
    }
    return decodeRecord(key, record);
  }

  /** One batch, so that facts and records agree whatever a crash leaves. */
  async write(changes: readonly StateChange[]): Promise<void> {
    const last = changes.at(-1);
    if (!last) return;
    const batch = this.database.batch();
    for (const change of changes) {
      for (const [key, value] of change.puts) batch.put(key, value);
      for (const { revision, position } of change.drops) batch.del(versionKey(revision, position));
      for (const [proposer, window] of change.proposers) {
        const key = Buffer.from(PROPOSER_PREFIX + proposer, 'latin1');
        if (window) batch.put(key, window);
        else batch.del(key);
      }
    }
    batch.put(FACTS_KEY, encodeFacts(last.facts));
    await batch.write();
  }

  /**
   * Resolves when everything written before is on stable storage. Compacting an empty range makes
   * LevelDB write its memory table to a synced file. A synced write would not do: it syncs the
   * current write-ahead file only, while the one before may still be waiting to be merged.
   */
  async sync(): Promise<void> {
    await this.database.compactRange(...EMPTY_RANGE);
  }

  async close(): Promise<void> {
    await this.database.close();
  }
}

export function asStoreError(error: unknown): unknown {
  if (error instanceof LogError && (error.code === 'BadDirectory' || error.code === 'Corrupt')) {
    return new StoreError(error.code, error.message);
  }
  return error;
}

function encodeFacts(facts: Facts): Buffer {
  const bytes = Buffer.alloc(FACTS_BYTES);
  bytes.writeUInt32BE(facts.hash, 4);
  bytes.writeDoubleBE(facts.appliedIndex, 8);
  bytes.writeDoubleBE(facts.revision, 16);
  bytes.writeDoubleBE(facts.compactedRevision, 24);
  bytes.writeDoubleBE(facts.timeMs, 32);
  bytes.writeDoubleBE(facts.keyCount, 40);
  bytes.writeDoubleBE(facts.liveBytes, 48);
  bytes.writeUInt32BE(crc32c(bytes, 0, 4), 0);
  return bytes;
}
