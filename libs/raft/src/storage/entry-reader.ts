/**
 * Reads entries, each checked alone and as the successor of the one before: records that were
 * verified at start may have been damaged since. Reads the database as of the call, also when
 * entries are compacted or replaced meanwhile.
 */

import type { LoopClock } from '@orch/component';
import { asLogIndex } from '../core/brands.js';
import type { Entry, LogIndex, LogPoint } from '../core/types.js';
import { recoverySliceBytes, recoverySliceEntries } from '../limits.js';
import type { Database } from './disk/disk.js';
import { decodeEntry, entryKey, indexOfKey } from './log-codec.js';
import { corruptLog } from './log-head.js';

export class EntryReader {
  constructor(
    private readonly database: Database,
    private readonly directory: string,
    private readonly clock: LoopClock,
  ) {}

  /**
   * Entries `[from, to]`, which must exist: at least one, at most `bytesMax` together. Rejects with
   * `Corrupt`.
   */
  async read(from: LogIndex, to: number, bytesMax: number): Promise<Entry[]> {
    const rows = this.database.rows({
      gte: entryKey(from),
      lte: entryKey(to),
      highWaterMarkBytes: Math.min(bytesMax, recoverySliceBytes),
    });
    const entries: Entry[] = [];
    let bytes = 0;
    try {
      for (let next: number = from; next <= to; ) {
        const slice = await rows.next(Math.min(recoverySliceEntries, to - next + 1));
        if (slice.length === 0) throw this.missing(next);
        for (const [key, record] of slice) {
          if (indexOfKey(key) !== next) throw this.missing(next);
          const entry = this.checked(asLogIndex(next), record, entries.at(-1));
          bytes += entry.data.length;
          if (entries.length > 0 && bytes > bytesMax) return entries;
          entries.push(entry);
          next += 1;
        }
        await this.clock.nextTurn();
      }
      return entries;
    } finally {
      await rows.close();
    }
  }

  /** The point of the entry at `index`, which must exist. Rejects with `Corrupt`. */
  async pointAt(index: LogIndex): Promise<LogPoint> {
    const record = await this.database.get(entryKey(index));
    if (!record) throw this.missing(index);
    return pointOf(this.checked(index, record, undefined));
  }

  private checked(index: LogIndex, record: Buffer, before: Entry | undefined): Entry {
    const decoded = decodeEntry(index, record);
    if (!decoded) throw corruptLog(this.directory, `entry ${index} does not match its checksum`);
    if (before && decoded.previousChecksum !== before.checksum) {
      throw corruptLog(this.directory, `entry ${index} does not continue the one before`);
    }
    return decoded.entry;
  }

  private missing(index: number): Error {
    return corruptLog(this.directory, `entry ${index} is missing`);
  }
}

export function pointOf({ index, term, checksum }: LogPoint): LogPoint {
  return { index, term, checksum };
}
