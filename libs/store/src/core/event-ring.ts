/**
 * The most recent commits with their events, by revision: resuming watches and exact reads of what
 * has just changed are served from here. Invariants: revisions are contiguous up to the store's; a
 * commit that is not yet in the state database is never dropped.
 */
import type { WatchEvent } from '../versioned-store.js';
import type { StoredEntry } from './stored-entry.js';

export interface StoreEvent extends WatchEvent {
  readonly previous: StoredEntry | undefined;
  readonly entry: StoredEntry;
}

const EVENT_OVERHEAD_BYTES = 256;

export class EventRing {
  #commits: (readonly StoreEvent[])[] = [];
  #head = 0;
  #firstRevision = 1;
  #persistedRevision = 0;
  #eventCount = 0;
  #byteCount = 0;

  constructor(
    private readonly eventsMax: number,
    private readonly bytesMax: number,
  ) {}

  /** Oldest revision held; one more than the newest when empty. */
  get firstRevision(): number {
    return this.#firstRevision;
  }

  /** Starts over behind `revision`. */
  reset(revision: number): void {
    this.#commits = [];
    this.#head = 0;
    this.#firstRevision = revision + 1;
    this.#persistedRevision = revision;
    this.#eventCount = 0;
    this.#byteCount = 0;
  }

  append(revision: number, events: readonly StoreEvent[]): void {
    if (revision !== this.#firstRevision + this.#commits.length - this.#head) {
      throw new Error(`invariant broken: revision ${revision} does not follow in the event ring`);
    }
    this.#commits.push(events);
    this.#eventCount += events.length;
    this.#byteCount += bytesOf(events);
    this.#evict();
  }

  /** Commits up to `revision` can be read from the state database. */
  persisted(revision: number): void {
    this.#persistedRevision = revision;
    this.#evict();
  }

  commit(revision: number): readonly StoreEvent[] | undefined {
    if (revision < this.#firstRevision) return undefined;
    return this.#commits[this.#head + revision - this.#firstRevision];
  }

  #evict(): void {
    while (
      (this.#eventCount > this.eventsMax || this.#byteCount > this.bytesMax) &&
      this.#firstRevision <= this.#persistedRevision &&
      this.#head < this.#commits.length
    ) {
      const oldest = this.#commits[this.#head]!;
      this.#commits[this.#head] = NO_EVENTS;
      this.#head += 1;
      this.#firstRevision += 1;
      this.#eventCount -= oldest.length;
      this.#byteCount -= bytesOf(oldest);
    }
    if (this.#head > 1_024 && this.#head * 2 > this.#commits.length) {
      this.#commits = this.#commits.slice(this.#head);
      this.#head = 0;
    }
  }
}

const NO_EVENTS: readonly StoreEvent[] = [];

function bytesOf(events: readonly StoreEvent[]): number {
  let sum = 0;
  for (const event of events) sum += event.entry.bytes.length + EVENT_OVERHEAD_BYTES;
  return sum;
}
