/**
 * The state on disk: `v/` has the versions, `m/applied` the facts that agree with them, `p/` the
 * applied command ids. Written without sync: after a crash the log replays the tail. Memory is
 * authoritative; the database serves to restore it and to read old versions.
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
import { proposersMax, scanSliceBytes, scanSliceRecords } from '../limits.js';
import { StoreError } from '../versioned-store.js';
import { type Checkpoint, decodeCheckpoint, encodeCheckpoint } from './checkpoint-codec.js';
import { decodeFacts, decodeSwept, encodeFacts, encodeSwept } from './facts-codec.js';

const databaseFormat = { kind: 'state', version: 2 } as const;
const databaseOptions = {
  writeBufferBytes: 8 * 1024 * 1024,
  cacheBytes: 16 * 1024 * 1024,
} as const;
const factsKey = Buffer.from('m/applied');
const installedKey = Buffer.from('m/installed');
const resyncKey = Buffer.from('m/resync');
const checkpointKey = Buffer.from('m/checkpoint');
const sweptKey = Buffer.from('m/swept');
const versionPrefix = 'v/';
const proposerPrefix = 'p/';
const proposersEnd = Buffer.from('p0');

/** One change of the database; changes are in the order of their application. */
export interface StateChange {
  readonly puts: readonly (readonly [key: Buffer, value: Buffer])[];
  readonly drops: readonly VersionName[];
  readonly proposers: ReadonlyMap<string, Buffer | undefined>;
  readonly facts: Facts;
}

/** The facts and proposers of one stored state. */
export interface StoredMoment {
  readonly facts: Facts;
  readonly proposers: ReadonlyMap<string, SequenceWindow>;
}

export class StateDatabase {
  private sweptRevision = 0;

  private constructor(private readonly database: Database) {}

  /** Rejects with StoreError `BadDirectory` or `Corrupt`. */
  static async open(disk: Disk, directory: string): Promise<StateDatabase> {
    try {
      const database = new StateDatabase(
        await disk.openDatabase(directory, databaseFormat, databaseOptions),
      );
      database.sweptRevision = await database.readSwept();
      return database;
    } catch (error) {
      throw asStoreError(error);
    }
  }

  /** Returns a view of the present rows, unaffected by later writes. The caller closes it. */
  view(): DatabaseView {
    return this.database.view();
  }

  /** Returns undefined in a new database. */
  async readFacts(view?: DatabaseView): Promise<Facts | undefined> {
    const bytes = await this.value(factsKey, view);
    return bytes && decodeFacts(bytes);
  }

  async readProposers(): Promise<Map<string, SequenceWindow>> {
    const proposers = new Map<string, SequenceWindow>();
    const rows = this.proposerRows();
    try {
      for (;;) {
        const slice = await rows.next(proposersMax);
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

  /** Returns the newest state; undefined in a new database. */
  async readNewest(): Promise<StoredMoment | undefined> {
    const facts = await this.readFacts();
    return facts && { facts, proposers: await this.readProposers() };
  }

  /**
   * * Returns the newest state that is completely on stable storage and so survives a crash of the
   *   machine. Undefined in a new database.
   */
  async readCheckpoint(): Promise<StoredMoment | undefined> {
    const bytes = await this.database.get(checkpointKey);
    return bytes && decodeCheckpoint(bytes);
  }

  /** Its state must be synced before. Resolves when the checkpoint is on stable storage. */
  async writeCheckpoint(checkpoint: Checkpoint): Promise<void> {
    const value = encodeCheckpoint(checkpoint);
    await this.database.write([{ kind: 'put', key: checkpointKey, value }], { sync: true });
  }

  /** Returns the revision up to which superseded versions may have been dropped. */
  async readSwept(view?: DatabaseView): Promise<number> {
    const bytes = await this.value(sweptKey, view);
    return bytes ? decodeSwept(bytes) : 0;
  }

  /** Records the swept revision of the state that the rows come from. */
  async noteSwept(revision: number): Promise<void> {
    this.sweptRevision = revision;
    const value = encodeSwept(revision);
    await this.database.write([{ kind: 'put', key: sweptKey, value }], { sync: true });
  }

  /** Returns the point of the snapshot that this state was installed from. */
  async readInstalled(): Promise<SnapshotPoint | undefined> {
    const bytes = await this.database.get(installedKey);
    if (bytes === undefined) return undefined;
    if (bytes.length < 4 || crc32c(bytes, 0, 4) !== bytes.readUInt32BE(0)) {
      throw new StoreError(
        'Corrupt',
        'the record of the installed snapshot does not match its checksum: restore this data directory from a backup or another replica',
      );
    }
    return JSON.parse(bytes.toString('utf8', 4)) as SnapshotPoint;
  }

  /** Resolves when the point and all earlier writes are on stable storage. */
  async noteInstalled(point: SnapshotPoint): Promise<void> {
    const value = Buffer.from(`0000${JSON.stringify(point)}`);
    value.writeUInt32BE(crc32c(value, 0, 4), 0);
    await this.database.write([{ kind: 'put', key: installedKey, value }], { sync: true });
    await this.database.sync();
  }

  /** Returns why this state must not be used again; undefined if it may be. */
  async readResync(): Promise<string | undefined> {
    return (await this.database.get(resyncKey))?.toString();
  }

  async noteResync(reason: string): Promise<void> {
    const value = Buffer.from(reason);
    await this.database.write([{ kind: 'put', key: resyncKey, value }], { sync: true });
  }

  /** The caller closes the rows. */
  proposerRows(view?: DatabaseView): Rows {
    const gt = Buffer.from(proposerPrefix);
    return this.database.rows({ gt, lt: proposersEnd, ...(view && { view }) });
  }

  /**
   * Returns the rows of versions with `after` < revision <= `upTo`, in order of revision. The
   * caller closes them.
   */
  versionRows(after: number, upTo: number, view?: DatabaseView): Rows {
    return this.database.rows({
      gte: versionKey(after + 1, 0),
      lt: versionKey(upTo + 1, 0),
      highWaterMarkBytes: scanSliceBytes,
      ...(view && { view }),
    });
  }

  /**
   * * Yields slices of checked records with `after` < revision <= `upTo`, in order of revision.
   *   Throws StoreError `Corrupt`, or `Unavailable` if the disk cannot be read now.
   */
  async *scan(after: number, upTo: number): AsyncGenerator<VersionRecord[]> {
    const iterator = this.versionRows(after, upTo);
    try {
      for (;;) {
        const rows = await iterator.next(scanSliceRecords);
        if (rows.length === 0) return;
        yield rows.map(([key, record]) => decodeRecord(key, record));
      }
    } catch (error) {
      throw asReadError(error);
    } finally {
      await iterator.close();
    }
  }

  /** Synchronous, because an awaited read costs ten times as much. Throws like `scan`. */
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

  /** Writes one batch, so that facts and records agree after a crash. */
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
        const key = Buffer.from(proposerPrefix + proposer, 'latin1');
        batch.push(value ? { kind: 'put', key, value } : { kind: 'delete', key });
      }
    }
    // In the batch of the first drop, so that a reader that misses a version finds this as well.
    // After a return to an earlier state, less may be compacted than was swept before.
    if (changes.some(({ drops }) => drops.length > 0)) {
      this.sweptRevision = Math.max(this.sweptRevision, last.facts.compactedRevision);
      const value = encodeSwept(this.sweptRevision);
      batch.push({ kind: 'put', key: sweptKey, value });
    }
    batch.push({ kind: 'put', key: factsKey, value: encodeFacts(last.facts) });
    await this.database.write(batch, { sync: false });
  }

  /**
   * Writes rows of another state database unchanged. Throws StoreError `Corrupt` for other rows.
   */
  async writeRows(rows: readonly Row[]): Promise<void> {
    const changes = rows.map(([key, value]): Change => {
      const prefix = key.toString('latin1', 0, 2);
      if (prefix === versionPrefix || prefix === proposerPrefix) return { kind: 'put', key, value };
      throw new StoreError('Corrupt', `the state holds a row of unknown kind ${prefix}`);
    });
    await this.database.write(changes, { sync: false });
  }

  /**
   * Writes these facts and exactly these proposers. Versions of later revisions stay and are
   * ignored.
   */
  async returnTo({ facts, proposers }: Checkpoint): Promise<void> {
    const changes = new Map<string, Buffer | undefined>();
    const rows = this.proposerRows();
    try {
      for (let slice = await rows.next(proposersMax); slice.length > 0; ) {
        for (const [key] of slice) changes.set(proposerOf(key), undefined);
        slice = await rows.next(proposersMax);
      }
    } finally {
      await rows.close();
    }
    for (const [proposer, value] of proposers) changes.set(proposer, value);
    await this.write([{ puts: [], drops: [], proposers: changes, facts }]);
  }

  async writeFacts(facts: Facts): Promise<void> {
    const value = encodeFacts(facts);
    await this.database.write([{ kind: 'put', key: factsKey, value }], { sync: true });
  }

  /** Resolves when all earlier writes are on stable storage. */
  sync(): Promise<void> {
    return this.database.sync();
  }

  close(): Promise<void> {
    return this.database.close();
  }

  private async value(key: Buffer, view: DatabaseView | undefined): Promise<Buffer | undefined> {
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
  return key.toString('latin1', proposerPrefix.length);
}

/** Errors of the disk have a code; an error without one is a fault of the program. */
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
