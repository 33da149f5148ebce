/**
 * The bookmarks of all watches that want them: one timer, and a limited number of watches per turn
 * of the event loop. Watches that are due within the same second are served together. The interval
 * is the same for all, so a watch that is served is due last. Watches of one revision and
 * representation share the bytes of their bookmark.
 */
import type { Clock, Timer } from '@orch/component';
import { bookmarkGatherMs, bookmarkIntervalMs, bookmarkSliceWatches } from '../limits.js';

export interface Bookmarked {
  /** Sends a bookmark. May leave the rounds. */
  bookmark(): void;
}

export class BookmarkRounds {
  /** When each is due next, the earliest first. */
  private readonly due = new Map<Bookmarked, number>();
  private timer: Timer | undefined;
  private sharedRevision = 0;
  private readonly shared = new Map<string, Buffer>();

  constructor(private readonly clock: Clock) {}

  /** The first bookmark follows after the interval. */
  add(watch: Bookmarked): void {
    this.due.set(watch, this.nextDueMs());
    this.schedule();
  }

  remove(watch: Bookmarked): void {
    this.due.delete(watch);
  }

  /** `key`: the representation. Bytes of an earlier revision are released. */
  bytes(key: string, revision: number, encode: () => Buffer): Buffer {
    if (revision !== this.sharedRevision) this.shared.clear();
    this.sharedRevision = revision;
    let bytes = this.shared.get(key);
    if (!bytes) {
      bytes = encode();
      this.shared.set(key, bytes);
    }
    return bytes;
  }

  private nextDueMs(): number {
    const exactMs = this.clock.monotonicMs() + bookmarkIntervalMs;
    return Math.ceil(exactMs / bookmarkGatherMs) * bookmarkGatherMs;
  }

  private schedule(): void {
    if (this.timer) return;
    for (const dueMs of this.due.values()) {
      const delayMs = Math.max(0, dueMs - this.clock.monotonicMs());
      this.timer = this.clock.setTimer(delayMs, () => this.serve());
      return;
    }
  }

  private serve(): void {
    this.timer = undefined;
    const nowMs = this.clock.monotonicMs();
    let servedCount = 0;
    for (const [watch, dueMs] of this.due) {
      if (dueMs > nowMs || servedCount === bookmarkSliceWatches) break;
      servedCount += 1;
      this.due.delete(watch);
      this.due.set(watch, this.nextDueMs());
      watch.bookmark();
    }
    this.schedule();
  }
}
