/**
 * The state on disk: `v/` holds the versions, `m/applied` the facts that agree with them, `p/` the
 * command ids seen. Written without sync: after a crash the log replays the tail. The memory is
 * authoritative; this is what it is rebuilt from, and where old versions are read.
 */
import {
  type Change,
  crc32c,
  type Database,
  type DatabaseView,
  type Disk,
  LogError,
  type Row,
  type Rows,
  type SnapshotPoint,
} from '@orch/raft';
import { decodeRecord, type VersionRecord, versionKey } from '../core/record.js';
import { SequenceWindow } from '../core/sequence-window.js';
import type { Facts } from '../core/state-machine.js';
import type { VersionName } from '../core/versions.js';
import { PROPOSERS_MAX, SCAN_SLICE_BYTES, SCAN_SLICE_RECORDS } from '../limits.js';
import { StoreError } from '../versioned-store.js';
import { type Checkpoint, decodeCheckpoint, encodeCheckpoint } from './checkpoint-codec.js';
import { decodeFacts, decodeSwept, encodeFacts, encodeSwept } from './facts-codec.js';

const FORMAT = { kind: 'state', version: 2 } as const;
const OPTIONS = { writeBufferBytes: 8 * 1024 * 1024, cacheBytes: 16 * 1024 * 1024 } as const;
const FACTS_KEY = Buffer.from('m/applied');
const INSTALLED_KEY = Buffer.from('m/installed');
const RESYNC_KEY = Buffer.from('m/resync');
const CHECKPOINT_KEY = Buffer.from('m/checkpoint');
const SWEPT_KEY = Buffer.from('m/swept');
const VERSION_PREFIX = 'v/';
const PROPOSER_PREFIX = 'p/';
const PROPOSERS_END = Buffer.from('p0');

/** One change of the database, in the order in which it was applied. */
export interface StateChange {
  readonly puts: readonly (readonly [key: Buffer, value: Buffer])[];
  readonly drops: readonly VersionName[];
  readonly proposers: ReadonlyMap<string, Buffer | undefined>;
  readonly facts: Facts;
}

/** A moment of the state, with whose facts it is read back. */
export interface StoredMoment {
  readonly facts: Facts;
  readonly proposers: ReadonlyMap<string, SequenceWindow>;
}

export class StateDatabase {
  #sweptRevision = 0;

  private constructor(private readonly database: Database) {}

  /** Rejects with StoreError `BadDirectory` or `Corrupt`. */
  static async open(disk: Disk, directory: string): Promise<StateDatabase> {
    try {
      const database = new StateDatabase(await disk.openDatabase(directory, FORMAT, OPTIONS));
      database.#sweptRevision = await database.readSwept();
      return database;
    } catch (error) {
      throw asStoreError(error);
    }
  }

  /** What is stored now, whatever is written later. To be closed. */
  view(): DatabaseView {
    return this.database.view();
  }

  /** Undefined in a new database. */
  async readFacts(view?: DatabaseView): Promise<Facts | undefined> {
    const bytes = await this.#value(FACTS_KEY, view);
    return bytes && decodeFacts(bytes);
  }

  async readProposers(): Promise<Map<string, SequenceWindow>> {
    const proposers = new Map<string, SequenceWindow>();
    const rows = this.proposerRows();
    try {
      for (;;) {
        const slice = await rows.next(PROPOSERS_MAX);
        if (slice.length === 0) break;
        for (const [key, value] of slice) {
          const proposer = proposerOf(key);
          proposers.set(proposer, SequenceWindow.decode(proposer, value));
        }
      }
    } finally {
      await rows.close();
    }
    return proposers;
  }

  /** The newest state; undefined in a new database. */
  async readNewest(): Promise<StoredMoment | undefined> {
    const facts = await this.readFacts();
    return facts && { facts, proposers: await this.readProposers() };
  }

  /**
   * The newest state of which everything is on stable storage: what a crash of the machine leaves for
   * certain. Undefined in a new database.
   */
  async readCheckpoint(): Promise<StoredMoment | undefined> {
    const bytes = await this.database.get(CHECKPOINT_KEY);
    return bytes && decodeCheckpoint(bytes);
  }

  /** What it is of must have been synced before. On stable storage when it resolves. */
  async writeCheckpoint(checkpoint: Checkpoint): Promise<void> {
    const value = encodeCheckpoint(checkpoint);
    await this.database.write([{ kind: 'put', key: CHECKPOINT_KEY, value }], { sync: true });
  }

  /** Compacted revision up to which versions were dropped, perhaps not all of them. */
  async readSwept(view?: DatabaseView): Promise<number> {
    const bytes = await this.#value(SWEPT_KEY, view);
    return bytes ? decodeSwept(bytes) : 0;
  }

  /** Of another state, whose rows these are now. */
  async noteSwept(revision: number): Promise<void> {
    this.#sweptRevision = revision;
    const value = encodeSwept(revision);
    await this.database.write([{ kind: 'put', key: SWEPT_KEY, value }], { sync: true });
  }

  /** The snapshot that this state came from. */
  async readInstalled(): Promise<SnapshotPoint | undefined> {
    const bytes = await this.database.get(INSTALLED_KEY);
    if (bytes === undefined) return undefined;
    if (bytes.length < 4 || crc32c(bytes, 0, 4) !== bytes.readUInt32BE(0)) {
      throw new StoreError(
        'Corrupt',
        'the note of an installed snapshot does not match its checksum: restore this data directory from a backup or another replica',
      );
    }
    return JSON.parse(bytes.toString('utf8', 4)) as SnapshotPoint;
  }

  /** On stable storage, with everything written before it, when it resolves. */
  async noteInstalled(point: SnapshotPoint): Promise<void> {
    const value = Buffer.from(`0000${JSON.stringify(point)}`);
    value.writeUInt32BE(crc32c(value, 0, 4), 0);
    await this.database.write([{ kind: 'put', key: INSTALLED_KEY, value }], { sync: true });
    await this.database.sync();
  }

  /** Why this state must not be used again; undefined: it may be. */
  async readResync(): Promise<string | undefined> {
    return (await this.database.get(RESYNC_KEY))?.toString();
  }

  async noteResync(reason: string): Promise<void> {
    const value = Buffer.from(reason);
    await this.database.write([{ kind: 'put', key: RESYNC_KEY, value }], { sync: true });
  }

  /** To be closed. */
  proposerRows(view?: DatabaseView): Rows {
    const gt = Buffer.from(PROPOSER_PREFIX);
    return this.database.rows({ gt, lt: PROPOSERS_END, ...(view && { view }) });
  }

  /** Rows of versions with `after` < revision <= `upTo`, in order of revision. To be closed. */
  versionRows(after: number, upTo: number, view?: DatabaseView): Rows {
    return this.database.rows({
      gte: versionKey(after + 1, 0),
      lt: versionKey(upTo + 1, 0),
      highWaterMarkBytes: SCAN_SLICE_BYTES,
      ...(view && { view }),
    });
  }

  /**
   * Slices of records with `after` < revision <= `upTo`, checked, in order of revision. Throws StoreError
   * `Corrupt`, or `Unavailable` when the disk cannot be read now.
   */
  async *scan(after: number, upTo: number): AsyncGenerator<VersionRecord[]> {
    const iterator = this.versionRows(after, upTo);
    try {
      for (;;) {
        const rows = await iterator.next(SCAN_SLICE_RECORDS);
        if (rows.length === 0) return;
        yield rows.map(([key, record]) => decodeRecord(key, record));
      }
    } catch (error) {
      throw asReadError(error);
    } finally {
      await iterator.close();
    }
  }

  /** Synchronous, since that costs a tenth of an awaited read. Throws as `scan` does. */
  read(name: VersionName): VersionRecord {
    const key = versionKey(name.revision, name.position);
    let record: Buffer | undefined;
    try {
      record = this.database.getSync(key);
    } catch (error) {
      throw asReadError(error);
    }
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
    const batch: Change[] = [];
    for (const change of changes) {
      for (const [key, value] of change.puts) batch.push({ kind: 'put', key, value });
      for (const { revision, position } of change.drops) {
        batch.push({ kind: 'delete', key: versionKey(revision, position) });
      }
      for (const [proposer, value] of change.proposers) {
        const key = Buffer.from(PROPOSER_PREFIX + proposer, 'latin1');
        batch.push(value ? { kind: 'put', key, value } : { kind: 'delete', key });
      }
    }
    // In the batch of the first drop: whoever finds something dropped finds this, too. After a return to an
    // earlier moment less may be compacted than was swept before.
    if (changes.some(({ drops }) => drops.length > 0)) {
      this.#sweptRevision = Math.max(this.#sweptRevision, last.facts.compactedRevision);
      const value = encodeSwept(this.#sweptRevision);
      batch.push({ kind: 'put', key: SWEPT_KEY, value });
    }
    batch.push({ kind: 'put', key: FACTS_KEY, value: encodeFacts(last.facts) });
    await this.database.write(batch, { sync: false });
  }

  /** Rows of another state's database, as they are. Throws StoreError `Corrupt` for other rows than those. */
  async writeRows(rows: readonly Row[]): Promise<void> {
    const changes = rows.map(([key, value]): Change => {
      const prefix = key.toString('latin1', 0, 2);
      if (prefix === VERSION_PREFIX || prefix === PROPOSER_PREFIX)
        return { kind: 'put', key, value };
      throw new StoreError('Corrupt', `the state holds a row of unknown kind ${prefix}`);
    });
    await this.database.write(changes, { sync: false });
  }

  /** These facts and proposers, and no others. Versions of later revisions stay and are not looked at. */
  async returnTo({ facts, proposers }: Checkpoint): Promise<void> {
    const changes = new Map<string, Buffer | undefined>();
    const rows = this.proposerRows();
    try {
      for (let slice = await rows.next(PROPOSERS_MAX); slice.length > 0; ) {
        for (const [key] of slice) changes.set(proposerOf(key), undefined);
        slice = await rows.next(PROPOSERS_MAX);
      }
    } finally {
      await rows.close();
    }
    for (const [proposer, value] of proposers) changes.set(proposer, value);
    await this.write([{ puts: [], drops: [], proposers: changes, facts }]);
  }

  async writeFacts(facts: Facts): Promise<void> {
    const value = encodeFacts(facts);
    await this.database.write([{ kind: 'put', key: FACTS_KEY, value }], { sync: true });
  }

  /** Resolves when everything written before is on stable storage. */
  sync(): Promise<void> {
    return this.database.sync();
  }

  close(): Promise<void> {
    return this.database.close();
  }

  async #value(key: Buffer, view: DatabaseView | undefined): Promise<Buffer | undefined> {
    if (!view) return this.database.get(key);
    const rows = this.database.rows({ gte: key, lte: key, limit: 1, view });
    try {
      const [row] = await rows.next(1);
      return row?.[1];
    } finally {
      await rows.close();
    }
  }
}

function proposerOf(key: Buffer): string {
  return key.toString('latin1', PROPOSER_PREFIX.length);
}

/** What the disk says has a code; anything else is a fault of the program. */
function asReadError(error: unknown): unknown {
  const known = asStoreError(error);
  if (known instanceof StoreError || !(error instanceof Error) || !('code' in error)) return known;
  return new StoreError('Unavailable', `the state database cannot be read: ${error.message}`);
}

export function asStoreError(error: unknown): unknown {
  if (error instanceof LogError && (error.code === 'BadDirectory' || error.code === 'Corrupt')) {
    return new StoreError(error.code, error.message);
  }
  return error;
}
