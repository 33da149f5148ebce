/**
 * The log on disk: appends are one synced batch, reads are checked and contiguous. Knows nothing of
 * proposals and promises to callers; `LocalLog` does.
 */
import { BATCH_BYTES_MAX, RECOVERY_SLICE_BYTES, TRUNCATE_SLICE_ENTRIES } from '../limits.js';
import { type CommittedEntry, LogError, type LogIndex } from '../replicated-log.js';
import { type Database, openDatabase } from '../storage/directory.js';
import {
  decodeEntry,
  decodeIndex,
  encodeEntry,
  encodeIndex,
  entryKey,
  FIRST_INDEX_KEY,
} from './entry-codec.js';

const FORMAT = { kind: 'log', version: 1 } as const;
const ABOVE_ALL_ENTRIES = Buffer.from('f');

export class LogDatabase {
  firstIndex = 1;
  lastIndex = 0;

  private constructor(
    private readonly database: Database,
    readonly directory: string,
  ) {}

  static async open(directory: string): Promise<LogDatabase> {
    const database = await openDatabase(directory, FORMAT, {
      writeBufferBytes: BATCH_BYTES_MAX,
      cacheBytes: 1024 * 1024,
    });
    const log = new LogDatabase(database, directory);
    try {
      await log.#load();
    } catch (error) {
      await database.close();
      throw error;
    }
    return log;
  }

  /** Appends after `lastIndex` and syncs. A rejection leaves the outcome open: the log is done for. */
  async append(commands: readonly Buffer[]): Promise<void> {
    const batch = this.database.batch();
    let index = this.lastIndex;
    for (const command of commands) {
      index += 1;
      const key = entryKey(index);
      batch.put(key, encodeEntry(key, command));
    }
    await batch.write({ sync: true });
    this.lastIndex = index;
  }

  /** Slices of entries after `index`, checked. Throws LogError `Corrupt` at damage or a gap. */
  async *readAfter(index: number, sliceEntries: number): AsyncGenerator<CommittedEntry[]> {
    const iterator = this.database.iterator({
      gt: entryKey(index),
      lte: entryKey(this.lastIndex),
      highWaterMarkBytes: RECOVERY_SLICE_BYTES,
    });
    let next = index + 1;
    try {
      for (;;) {
        const rows = await iterator.nextv(sliceEntries);
        if (rows.length === 0) break;
        const entries = rows.map(([key, record]) => decodeEntry(key, record));
        for (const entry of entries) {
          if (entry.index !== next) throw this.#missing(next);
          next += 1;
        }
        yield entries;
      }
      if (next !== this.lastIndex + 1) throw this.#missing(next);
    } finally {
      await iterator.close();
    }
  }

  /** Forgets entries up to `index`. The new first index is durable before anything is deleted. */
  async truncate(index: number): Promise<void> {
    if (index < this.firstIndex) return;
    const from = this.firstIndex;
    this.firstIndex = index + 1;
    await this.database.put(FIRST_INDEX_KEY, encodeIndex(this.firstIndex), { sync: true });
    await this.#deleteRange(from, index);
  }

  async close(): Promise<void> {
    await this.database.close();
  }

  async #load(): Promise<void> {
    const first = await this.database.get(FIRST_INDEX_KEY);
    if (first) this.firstIndex = decodeIndex(first);
    const [oldest] = await this.database.keys({ lt: ABOVE_ALL_ENTRIES, limit: 1 }).all();
    const [newest] = await this.database
      .keys({ lt: ABOVE_ALL_ENTRIES, limit: 1, reverse: true })
      .all();
    const newestIndex = newest ? Number(newest.readBigUInt64BE(1)) : 0;
    this.lastIndex = Math.max(newestIndex, this.firstIndex - 1);
    // A crash in the middle of `truncate` leaves entries below the first index.
    const oldestIndex = oldest ? Number(oldest.readBigUInt64BE(1)) : this.firstIndex;
    if (oldestIndex < this.firstIndex) await this.#deleteRange(oldestIndex, this.firstIndex - 1);
  }

  async #deleteRange(from: number, to: number): Promise<void> {
    for (let index = from; index <= to; ) {
      const batch = this.database.batch();
      const sliceEnd = Math.min(to, index + TRUNCATE_SLICE_ENTRIES - 1);
      for (; index <= sliceEnd; index += 1) batch.del(entryKey(index));
      await batch.write();
    }
  }

  #missing(index: number): LogError {
    return new LogError(
      'Corrupt',
      `log entry ${index as LogIndex} is missing in ${this.directory}: restore this data directory from a backup or another replica`,
    );
  }
}
