/**
 * Reads entries back, each checked alone and as the one that follows: what was proved at start may have
 * been damaged since. Sees the database as of the call, whatever is cut off or replaced meanwhile.
 */
import type { LoopClock } from '@orch/component';
import type { Entry, LogPoint } from '../core/types.js';
import { RECOVERY_SLICE_BYTES, RECOVERY_SLICE_ENTRIES } from '../limits.js';
import type { LogIndex } from '../replicated-log.js';
import type { Database } from './disk.js';
import { decodeEntry, entryKey, indexOfKey } from './log-codec.js';
import { corruptLog } from './log-head.js';

export class LogReader {
  constructor(
    private readonly database: Database,
    private readonly directory: string,
    private readonly clock: LoopClock,
  ) {}

  /** Entries `[from, to]`, which must be there: at least one, at most `bytesMax` together. Rejects with `Corrupt`. */
  async read(from: LogIndex, to: number, bytesMax: number): Promise<Entry[]> {
    const rows = this.database.rows({
      gte: entryKey(from),
      lte: entryKey(to),
      highWaterMarkBytes: Math.min(bytesMax, RECOVERY_SLICE_BYTES),
    });
    const entries: Entry[] = [];
    let bytes = 0;
    try {
      for (let next: number = from; next <= to; ) {
        const slice = await rows.next(Math.min(RECOVERY_SLICE_ENTRIES, to - next + 1));
        if (slice.length === 0) throw this.#missing(next);
        for (const [key, record] of slice) {
          if (indexOfKey(key) !== next) throw this.#missing(next);
          const entry = this.#checked(next as LogIndex, record, entries.at(-1));
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

  /** The entry at `index`, which must be there, as a point. Rejects with `Corrupt`. */
  async pointAt(index: LogIndex): Promise<LogPoint> {
    const record = await this.database.get(entryKey(index));
    if (!record) throw this.#missing(index);
    return pointOf(this.#checked(index, record, undefined));
  }

  #checked(index: LogIndex, record: Buffer, before: Entry | undefined): Entry {
    const decoded = decodeEntry(index, record);
    if (!decoded) throw corruptLog(this.directory, `entry ${index} does not match its checksum`);
    if (before && decoded.previousChecksum !== before.checksum) {
      throw corruptLog(this.directory, `entry ${index} does not continue the one before`);
    }
    return decoded.entry;
  }

  #missing(index: number): Error {
    return corruptLog(this.directory, `entry ${index} is missing`);
  }
}

export function pointOf({ index, term, checksum }: LogPoint): LogPoint {
  return { index, term, checksum };
}
