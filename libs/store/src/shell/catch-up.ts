/**
 * Brings watches that start in the past up to date: from the state database, then from the recent
 * events, and into the hub at the moment at which nothing is missing. In slices, few at a time.
 * A watch that a compaction overtakes is ended, never left with a gap. One that takes its events slowly
 * gives its place to others while it is waited for. When the state is replaced, each goes on in the new
 * one from what it was sent last.
 */
import type { LoopClock } from '@orch/component';
import type { StoreEvent } from '../core/event-ring.js';
import type { VersionRecord } from '../core/record.js';
import type { Watch, WatchHub } from '../core/watch-hub.js';
import { CATCH_UP_SLICE_BYTES, CATCH_UP_SLICE_EVENTS, CATCH_UPS_MAX } from '../limits.js';
import { type Revision, StoreError } from '../versioned-store.js';
import type { LiveState } from './live-state.js';

export class CatchUp {
  readonly #waiting = new Set<Watch>();
  #running = 0;
  #source: LiveState | undefined;

  constructor(
    private readonly hub: WatchHub,
    private readonly clock: LoopClock,
    private readonly onError: (watch: Watch, error: unknown) => void,
  ) {}

  /** Where the past is read from; undefined: nowhere for now, all wait. */
  use(source: LiveState | undefined): void {
    this.#source = source;
    this.#startNext();
  }

  /** Its first events come after the caller has its handle. */
  add(watch: Watch): void {
    this.#waiting.add(watch);
    queueMicrotask(() => this.#startNext());
  }

  remove(watch: Watch): void {
    this.#waiting.delete(watch);
  }

  #startNext(): void {
    while (this.#source && this.#running < CATCH_UPS_MAX) {
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
      const source = this.#source;
      if (!source) return void this.#waiting.add(watch);
      const { machine } = source;
      if (watch.sentRevision < machine.oldestRevision) {
        watch.end(compacted(watch.sentRevision, machine.oldestRevision));
        return;
      }
      if (watch.sentRevision === this.hub.revision) {
        this.hub.join(watch);
        return;
      }
      const ready = watch.options.whenReady?.();
      if (ready) {
        void ready.then(() => this.add(watch));
        return;
      }
      if (watch.sentRevision + 1 >= machine.ring.firstRevision) {
        this.#deliverRecent(watch, source);
        if (watch.sentRevision < this.hub.revision) await this.clock.nextTurn();
        continue;
      }
      try {
        await this.#deliverStored(watch, source, machine.ring.firstRevision - 1);
      } catch (error) {
        // A state that was replaced meanwhile can no longer be read: go on in the new one.
        if (source === this.#source) throw error;
      }
    }
  }

  #deliverRecent(watch: Watch, { machine }: LiveState): void {
    const selected: StoreEvent[] = [];
    let revision = watch.sentRevision;
    let looked = 0;
    let bytes = 0;
    while (
      revision < this.hub.revision &&
      looked < CATCH_UP_SLICE_EVENTS &&
      bytes < CATCH_UP_SLICE_BYTES
    ) {
      const events = machine.ring.commit(revision + 1);
      if (!events) throw new Error(`invariant broken: no events of revision ${revision + 1}`);
      revision = (revision + 1) as Revision;
      looked += events.length;
      for (const event of events) {
        if (!watch.selects(event.key)) continue;
        selected.push(event);
        bytes += event.entry.bytes.length;
      }
    }
    deliver(watch, selected, revision);
  }

  /** Up to `upTo`, which the state database holds; stops early when compaction overtakes or room ends. */
  async #deliverStored(watch: Watch, source: LiveState, upTo: number): Promise<void> {
    const over = () =>
      watch.closed || source !== this.#source || watch.sentRevision < source.machine.oldestRevision;
    let selected: StoreEvent[] = [];
    let bytes = 0;
    let last = watch.sentRevision;
    for await (const records of source.database.scan(watch.sentRevision, upTo)) {
      if (over()) return;
      for (const record of records) {
        const { revision } = record.entry;
        if (revision !== last) {
          // What was collected is complete only once the next revision begins.
          if (revision !== last + 1) throw missing(last + 1);
          if (selected.length >= CATCH_UP_SLICE_EVENTS || bytes >= CATCH_UP_SLICE_BYTES) {
            deliver(watch, selected, last);
            if (watch.closed || watch.options.whenReady?.()) return;
            selected = [];
            bytes = 0;
          }
          last = revision;
        }
        if (!watch.selects(record.entry.key)) continue;
        selected.push(eventOf(record, source));
        bytes += record.entry.bytes.length;
      }
      await this.clock.nextTurn();
    }
    if (over()) return;
    if (last !== upTo) throw missing(last + 1);
    deliver(watch, selected, last);
  }
}

function eventOf({ entry, deleted }: VersionRecord, { reader }: LiveState): StoreEvent {
  const { key, revision, createRevision } = entry;
  const previous =
    createRevision === revision && !deleted ? undefined : reader.at(key, revision - 1);
  return { revision, kind: deleted ? 'delete' : 'put', key, previous, entry, derived: undefined };
}

function deliver(watch: Watch, events: readonly StoreEvent[], revision: Revision): void {
  if (watch.closed) return;
  watch.sentRevision = revision;
  if (events.length > 0) watch.options.onEvents(events, revision);
}

function missing(revision: number): StoreError {
  return new StoreError(
    'Corrupt',
    `the record of revision ${revision} is missing: restore this data directory from a backup or another replica`,
  );
}

export function compacted(asked: Revision, compactedRevision: Revision): StoreError {
  return new StoreError(
    'Compacted',
    `revision ${asked} has been compacted, history begins after ${compactedRevision}`,
    compactedRevision,
  );
}
