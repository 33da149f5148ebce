/**
 * Brings watches that start in the past up to date: from etcd's history, then from the recent commits,
 * and into the hub at the moment at which nothing is missing. In slices, few at a time. A watch that a
 * compaction overtakes is ended; one that takes its events slowly gives its place to others meanwhile.
 */
import type { LoopClock } from '@orch/component';
import type { Watch, WatchHub } from '../core/watch-hub.js';
import { CATCH_UP_SLICE_BYTES, CATCH_UP_SLICE_EVENTS, CATCH_UPS_MAX } from '../limits.js';
import type { Revision, WatchEvent } from '../versioned-store.js';
import type { History } from './history.js';
import type { RecentCommit, RecentCommits } from './recent-commits.js';

export class WatchCatchUp {
  readonly #waiting = new Set<Watch>();
  #running = 0;

  constructor(
    private readonly hub: WatchHub,
    private readonly recent: RecentCommits,
    private readonly history: History,
    private readonly clock: LoopClock,
    private readonly onError: (watch: Watch, error: unknown) => void,
  ) {}

  /** Its first events come after the caller has its handle. */
  add(watch: Watch): void {
    this.#waiting.add(watch);
    queueMicrotask(() => this.#startNext());
  }

  remove(watch: Watch): void {
    this.#waiting.delete(watch);
  }

  #startNext(): void {
    while (this.#running < CATCH_UPS_MAX) {
      const [watch] = this.#waiting;
      if (!watch) return;
      this.#waiting.delete(watch);
      this.#running += 1;
      void this.#run(watch);
    }
  }

  async #run(watch: Watch): Promise<void> {
    try {
      await this.#advance(watch);
    } catch (error) {
      this.onError(watch, error);
    }
    this.#running -= 1;
    this.#startNext();
  }

  /** Until it is up to date, closed, or has no room: then it comes back once it has. */
  async #advance(watch: Watch): Promise<void> {
    while (!watch.closed) {
      if (watch.sentRevision === this.hub.revision) {
        this.hub.join(watch);
        return;
      }
      const ready = watch.options.whenReady?.();
      if (ready) {
        void ready.then(() => {
          if (!watch.closed) this.add(watch);
        });
        return;
      }
      if (watch.sentRevision >= this.recent.after) {
        this.#deliverRecent(watch);
        if (watch.sentRevision < this.hub.revision) await this.clock.nextTurn();
      } else {
        await this.#deliverHistory(watch);
      }
    }
  }

  #deliverRecent(watch: Watch): void {
    const slice = new Slice(watch);
    for (const commit of this.recent.since(watch.sentRevision)) {
      slice.add(commit);
      if (slice.isFull) {
        slice.deliver(commit.revision);
        return;
      }
    }
    slice.deliver(this.hub.revision);
  }

  /** Up to where the recent commits begin; stops early when the watch has no room. */
  async #deliverHistory(watch: Watch): Promise<void> {
    const steps = this.history.between(watch.sentRevision, this.recent.after);
    for await (const { commits, revision } of steps) {
      let slice = new Slice(watch);
      for (const commit of commits) {
        slice.add(commit);
        if (!slice.isFull) continue;
        slice.deliver(commit.revision);
        slice = new Slice(watch);
      }
      slice.deliver(revision);
      if (watch.closed || watch.options.whenReady?.()) return;
    }
  }
}

/** What is handed to a watch at once. */
class Slice {
  readonly #events: WatchEvent[] = [];
  #looked = 0;
  #bytes = 0;

  constructor(private readonly watch: Watch) {}

  get isFull(): boolean {
    return this.#looked >= CATCH_UP_SLICE_EVENTS || this.#bytes >= CATCH_UP_SLICE_BYTES;
  }

  add({ events }: RecentCommit): void {
    this.#looked += events.length;
    for (const event of events) {
      if (!this.watch.selects(event.key)) continue;
      this.#events.push(event);
      this.#bytes += event.entry.bytes.length;
    }
  }

  /** Everything up to `revision` has been added since the last slice. */
  deliver(revision: number): void {
    if (this.watch.closed) return;
    this.watch.sentRevision = revision as Revision;
    if (this.#events.length > 0) this.watch.options.onEvents(this.#events, revision as Revision);
  }
}
