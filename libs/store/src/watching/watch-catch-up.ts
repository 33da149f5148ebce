/**
 * Brings watches that start in the past up to date: from the durable history, then from the recent
 * commits in memory, then into the hub when no event is missing. Works in slices, on a few watches
 * at a time. Invariants: a watch that a compaction overtakes is ended, never left with a gap; a
 * watch whose client reads slowly gives its place to another until the client is ready; when the
 * history is replaced, each watch continues in the new one after the last revision that it was
 * sent.
 */
import type { LoopClock } from '@orch/component';
import type { Watch, WatchHub } from '../core/watch-hub.js';
import { catchUpSliceBytes, catchUpSliceEvents, catchUpsMax } from '../limits.js';
import { compactedError } from '../revision-errors.js';
import type { Revision, WatchEvent } from '../versioned-store.js';
import type { PastCommit, WatchHistory } from './watch-history.js';

export class WatchCatchUp {
  private readonly waiting = new Set<Watch>();
  private runningCount = 0;
  private history: WatchHistory | undefined;

  constructor(
    private readonly hub: WatchHub,
    private readonly clock: LoopClock,
    private readonly onError: (watch: Watch, error: unknown) => void,
  ) {}

  /** Sets the history to read from. While it is undefined, all watches wait. */
  use(history: WatchHistory | undefined): void {
    this.history = history;
    this.startNext();
  }

  /** The first events of `watch` arrive after the caller has its handle. */
  add(watch: Watch): void {
    this.waiting.add(watch);
    queueMicrotask(() => this.startNext());
  }

  remove(watch: Watch): void {
    this.waiting.delete(watch);
  }

  private startNext(): void {
    while (this.history && this.runningCount < catchUpsMax) {
      const [watch] = this.waiting;
      if (!watch) return;
      this.waiting.delete(watch);
      this.runningCount += 1;
      void this.run(watch);
    }
  }

  private async run(watch: Watch): Promise<void> {
    try {
      await this.advance(watch);
    } catch (error) {
      this.onError(watch, error);
    }
    this.runningCount -= 1;
    this.startNext();
  }

  /** Resolves when the watch is in the hub, closed, or waiting for its client or a history. */
  private async advance(watch: Watch): Promise<void> {
    while (!watch.closed) {
      const { history } = this;
      if (!history) return void this.waiting.add(watch);
      if (watch.sentRevision < history.oldestRevision) {
        watch.end(compactedError(watch.sentRevision, history.oldestRevision));
        return;
      }
      if (!history.mayHaveChanged(watch.options.prefix, watch.sentRevision)) {
        watch.sentRevision = this.hub.revision;
      }
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
      if (watch.sentRevision >= history.recentAfter) {
        this.deliverRecent(watch, history);
        if (watch.sentRevision < this.hub.revision) await this.clock.nextTurn();
        continue;
      }
      try {
        await this.deliverStored(watch, history);
      } catch (error) {
        // A history that was replaced can no longer be read: continue in the new one.
        if (history === this.history) throw error;
      }
    }
  }

  /** Delivers one slice. */
  private deliverRecent(watch: Watch, history: WatchHistory): void {
    const slice = new Slice(watch);
    for (const commit of history.recent(watch.sentRevision, this.hub.revision)) {
      slice.add(commit);
      if (!slice.isFull) continue;
      slice.deliver(commit.revision);
      return;
    }
    slice.deliver(this.hub.revision);
  }

  /**
   * Delivers everything before the recent commits unless a compaction or a slow client interrupts.
   */
  private async deliverStored(watch: Watch, history: WatchHistory): Promise<void> {
    const isInterrupted = () =>
      watch.closed || history !== this.history || watch.sentRevision < history.oldestRevision;
    const selects = (key: string) => watch.selects(key);
    const steps = history.stored(watch.sentRevision, history.recentAfter, selects);
    for await (const { commits, revision } of steps) {
      if (isInterrupted()) return;
      let slice = new Slice(watch);
      for (const commit of commits) {
        slice.add(commit);
        if (!slice.isFull) continue;
        slice.deliver(commit.revision);
        if (watch.closed || watch.options.whenReady?.()) return;
        slice = new Slice(watch);
      }
      slice.deliver(revision);
      if (watch.closed || watch.options.whenReady?.()) return;
      await this.clock.nextTurn();
    }
  }
}

/** The selected events that one call passes to a watch. */
class Slice {
  private readonly events: WatchEvent[] = [];
  private visitedCount = 0;
  private byteCount = 0;

  constructor(private readonly watch: Watch) {}

  get isFull(): boolean {
    return this.visitedCount >= catchUpSliceEvents || this.byteCount >= catchUpSliceBytes;
  }

  add({ events }: PastCommit): void {
    this.visitedCount += events.length;
    for (const event of events) {
      if (!this.watch.selects(event.key)) continue;
      this.events.push(event);
      this.byteCount += event.entry.bytes.length;
    }
  }

  /** Every commit up to `revision` that the watch was not sent before has been added. */
  deliver(revision: Revision): void {
    if (this.watch.closed) return;
    this.watch.sentRevision = revision;
    if (this.events.length > 0) this.watch.onEvents(this.events, revision);
  }
}
