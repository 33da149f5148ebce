/**
 * The two things on disk that make a log, database and mark, and the order in which they change:
 * one change at a time, each one synced batch with the head in it, the mark only after it. After a
 * failure the content of the disk is open, so that nothing is written any more.
 */
import { join } from 'node:path';
import type { LoopClock } from '@orch/component';
import { batchBytesMax, truncateSliceEntries } from '../limits.js';
import { LogError } from '../replicated-log.js';
import type { Change, Database, Disk, Mark } from './disk/disk.js';
import { encodeFact, entryKey, headKey } from './log-codec.js';
import { damagedLogCure, type LogHead } from './log-head.js';

/** 1 was the log of a cluster without replicas. */
export const logFormat = { kind: 'log', version: 2 } as const;
const databaseOptions = {
  writeBufferBytes: batchBytesMax,
  cacheBytes: 1024 * 1024,
  cure: damagedLogCure,
} as const;

export class LogFiles {
  private line: Promise<unknown> = Promise.resolve();
  private failure: unknown;
  private closed: Promise<void> | undefined;

  private constructor(
    readonly database: Database,
    readonly mark: Mark,
    private readonly clock: LoopClock,
  ) {}

  static async open(disk: Disk, directory: string, clock: LoopClock): Promise<LogFiles> {
    const database = await disk.openDatabase(directory, logFormat, databaseOptions);
    try {
      return new LogFiles(database, await disk.openMark(join(directory, 'tail')), clock);
    } catch (error) {
      await database.close();
      throw error;
    }
  }

  /** Runs `change` after all earlier ones. Its failure is final. */
  exclusively<Result>(change: () => Promise<Result>): Promise<Result> {
    if (this.closing) return Promise.reject(new LogError('Stopped', 'the log is closed'));
    const done = this.line.then(() => {
      if (this.failure === undefined) return change();
      throw new LogError('Stopped', 'an earlier write of the log failed: it must be reopened', {
        cause: this.failure,
      });
    });
    this.line = done.catch((error: unknown) => {
      this.failure ??= error;
    });
    return done;
  }

  /** Within `exclusively`. Takes over `changes`. */
  async commit(changes: Change[], head: LogHead): Promise<void> {
    const value = encodeFact(headKey, head);
    changes.push({ kind: 'put', key: headKey, value });
    await this.database.write(changes, { sync: true });
    await this.mark.write(value);
  }

  /**
   * Deletes entries `[from, to]`, which no start or head references any more, in slices; `run`
   * executes each change: queued behind others, or as part of a change in progress.
   */
  async deleteEntries(
    from: number,
    to: number,
    options: { readonly sync: boolean },
    run: (change: () => Promise<void>) => Promise<void> = (change) => change(),
  ): Promise<void> {
    for (let index = from; index <= to; ) {
      const changes: Change[] = [];
      const sliceEnd = Math.min(to, index + truncateSliceEntries - 1);
      for (; index <= sliceEnd; index += 1) changes.push({ kind: 'delete', key: entryKey(index) });
      await run(() => this.database.write(changes, options));
      await this.clock.nextTurn();
    }
  }

  /** Nothing is taken any more. */
  get closing(): boolean {
    return this.closed !== undefined;
  }

  /** Idempotent. Waits for changes in progress. */
  close(): Promise<void> {
    this.closed ??= this.line.then(async () => {
      try {
        await this.database.close();
      } finally {
        await this.mark.close();
      }
    });
    return this.closed;
  }
}
