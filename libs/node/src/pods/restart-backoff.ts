/**
 * The back-off between restarts of a container: none for the first restart, then exponential. It is
 * reset after a long run. It is stored only in memory, so a restart of the agent resets it.
 */
import { backoffMs } from '@orch/component';
import { LRUCache } from 'lru-cache';
import {
  restartBackoffEntryCountMax,
  restartBackoffInitialMs,
  restartBackoffMaxMs,
} from '../limits.js';

interface Entry {
  readonly startCount: number;
  readonly updatedMs: number;
}

export class RestartBackoff {
  private readonly entries = new LRUCache<string, Entry>({ max: restartBackoffEntryCountMax });

  /** Returns the milliseconds until `key`, which ended at `finishedMs`, may start; 0 for now. */
  remainingMs(key: string, finishedMs: number, nowMs: number): number {
    const entry = this.entries.get(key);
    if (!entry || this.hasExpired(entry, finishedMs)) return 0;
    return Math.max(0, finishedMs + delayAfter(entry.startCount) - nowMs);
  }

  /** Returns the current pause of `key`. */
  delayMs(key: string): number {
    const entry = this.entries.get(key);
    return entry ? delayAfter(entry.startCount) : 0;
  }

  /** Records a start, which increases the pause before the next one. */
  started(key: string, finishedMs: number, nowMs: number): void {
    const entry = this.entries.get(key);
    const earlierCount = entry && !this.hasExpired(entry, finishedMs) ? entry.startCount : 0;
    this.entries.set(key, { startCount: earlierCount + 1, updatedMs: nowMs });
  }

  /** Resets the back-off of all keys with this prefix. */
  forget(keyPrefix: string): void {
    for (const key of [...this.entries.keys()]) {
      if (key.startsWith(keyPrefix)) this.entries.delete(key);
    }
  }

  private hasExpired(entry: Entry, finishedMs: number): boolean {
    return finishedMs - entry.updatedMs > 2 * restartBackoffMaxMs;
  }
}

/** Without jitter: the status of the container reports the pause. */
function delayAfter(startCount: number): number {
  return backoffMs(startCount, {
    initialMs: restartBackoffInitialMs,
    maxMs: restartBackoffMaxMs,
    factor: 2,
    jitter: 0,
    random: () => 0,
  });
}
