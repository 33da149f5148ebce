/**
 * How long a container that ended has to wait for its next start: nothing at first, then doubling. A
 * container that ran long enough starts from the beginning again. Kept in memory only: a restarted
 * agent gives every container a fresh chance.
 */
import {
  restartBackoffEntryCountMax,
  restartBackoffInitialMs,
  restartBackoffMaxMs,
} from '../limits.js';

interface Entry {
  delayMs: number;
  updatedMs: number;
}

export class RestartBackoff {
  private readonly entries = new Map<string, Entry>();

  /** Milliseconds until `key`, which ended at `finishedMs`, may start; 0: now. */
  remainingMs(key: string, finishedMs: number, nowMs: number): number {
    const entry = this.entries.get(key);
    if (!entry || this.hasExpired(entry, finishedMs)) return 0;
    return Math.max(0, finishedMs + entry.delayMs - nowMs);
  }

  /** The pause that is in force for `key`. */
  delayMs(key: string): number {
    return this.entries.get(key)?.delayMs ?? 0;
  }

  /** Counts a start: the pause before the next one gets longer. */
  started(key: string, finishedMs: number, nowMs: number): void {
    const entry = this.entries.get(key);
    const grown = entry && !this.hasExpired(entry, finishedMs);
    const delayMs = grown
      ? Math.min(entry.delayMs * 2, restartBackoffMaxMs)
      : restartBackoffInitialMs;
    this.entries.delete(key);
    if (this.entries.size >= restartBackoffEntryCountMax) {
      const oldest = this.entries.keys().next();
      if (!oldest.done) this.entries.delete(oldest.value);
    }
    this.entries.set(key, { delayMs, updatedMs: nowMs });
  }

  forget(keyPrefix: string): void {
    for (const key of this.entries.keys()) if (key.startsWith(keyPrefix)) this.entries.delete(key);
  }

  private hasExpired(entry: Entry, finishedMs: number): boolean {
    return finishedMs - entry.updatedMs > 2 * restartBackoffMaxMs;
  }
}
