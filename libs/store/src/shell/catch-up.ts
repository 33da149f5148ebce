/**
 * Brings watches that start in the past up to date: from the state database, then from the recent
 * events, and into the hub at the moment at which nothing is missing. In slices, few at a time.
 * A watch that a compaction overtakes is ended, never left with a gap. One that takes its events slowly
 * gives its place to others while it is waited for.
 */
import type { StoreEvent } from '../core/event-ring.js';
import type { VersionRecord } from '../core/record.js';
import type { StateMachine } from '../core/state-machine.js';
import type { Watch, WatchHub } from '../core/watch-hub.js';
import { CATCH_UP_SLICE_BYTES, CATCH_UP_SLICE_EVENTS, CATCH_UPS_MAX } from '../limits.js';
import { type Revision, StoreError } from '../versioned-store.js';
import type { StateDatabase } from './state-database.js';
import { nextTurn } from './turns.js';
import type { VersionReader } from './version-reader.js';

export class CatchUp {
  readonly #waiting = new Set<Watch>();
  #running = 0;

  constructor(
    private readonly machine: StateMachine,
    private readonly hub: WatchHub,
    private readonly database: StateDatabase,
    private readonly reader: VersionReader,
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
      if (watch.sentRevision < this.machine.compactedRevision) {
        watch.end(compacted(watch.sentRevision, this.machine.compactedRevision));
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
      if (watch.sentRevision + 1 >= this.machine.ring.firstRevision) {
        this.#deliverRecent(watch);
        if (watch.sentRevision < this.hub.revision) await nextTurn();
      } else {
        await this.#deliverStored(watch, this.machine.ring.firstRevision - 1);
      }
    }
  }

  #deliverRecent(watch: Watch): void {
    const selected: StoreEvent[] = [];
    let revision = watch.sentRevision;
    let looked = 0;
    let bytes = 0;
    while (
      revision < this.hub.revision &&
      looked < CATCH_UP_SLICE_EVENTS &&
      bytes < CATCH_UP_SLICE_BYTES
    ) {
      const events = this.machine.ring.commit(revision + 1);
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
  async #deliverStored(watch: Watch, upTo: number): Promise<void> {
    let selected: StoreEvent[] = [];
    let bytes = 0;
    let last = watch.sentRevision;
    for await (const records of this.database.scan(watch.sentRevision, upTo)) {
      if (watch.closed || watch.sentRevision < this.machine.compactedRevision) return;
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
        selected.push(this.#eventOf(record));
        bytes += record.entry.bytes.length;
      }
      await nextTurn();
    }
    if (watch.closed || watch.sentRevision < this.machine.compactedRevision) return;
    if (last !== upTo) throw missing(last + 1);
    deliver(watch, selected, last);
  }

  #eventOf({ entry, deleted }: VersionRecord): StoreEvent {
    const { key, revision, createRevision } = entry;
    const previous =
      createRevision === revision && !deleted ? undefined : this.reader.at(key, revision - 1);
    return { revision, kind: deleted ? 'delete' : 'put', key, previous, entry, derived: undefined };
  }
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
