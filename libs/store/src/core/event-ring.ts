/**
 * The most recent commits with their events, by revision. Resuming watches and exact reads of
 * recent revisions are served from here. Invariants: revisions are contiguous up to the store's
 * revision; a commit that the state database does not have yet is never evicted.
 */
import { invariant, verify } from '@orch/component';
import type { WatchEvent } from '../versioned-store.js';
import type { VersionRecord } from './record.js';
import type { StoredEntry } from './stored-entry.js';

export interface StoreEvent extends WatchEvent {
  readonly previous: StoredEntry | undefined;
  readonly entry: StoredEntry;
}

/** The event that wrote `record`. `previous`: the version before it, undefined for a new key. */
export function eventOf(
  { entry, deleted }: VersionRecord,
  previous: StoredEntry | undefined,
): StoreEvent {
  const { key, revision } = entry;
  return { revision, kind: deleted ? 'delete' : 'put', key, previous, entry, derived: undefined };
}

const eventOverheadBytes = 256;
/** Evicted slots are removed when there are more of them than this and than of stored commits. */
const headMin = 1_024;
const noEvents: readonly StoreEvent[] = [];

export class EventRing {
  private commits: (readonly StoreEvent[])[] = [];
  private head = 0;
  private oldestRevision = 1;
  private persistedRevision = 0;
  private eventCount = 0;
  private byteCount = 0;

  constructor(
    private readonly eventsMax: number,
    private readonly bytesMax: number,
  ) {
    invariant(eventsMax > 0, 'the event ring has no room for events');
    invariant(bytesMax > 0, 'the event ring has no room for bytes');
  }

  /** Oldest revision in the ring; one more than the newest revision if the ring is empty. */
  get firstRevision(): number {
    return this.oldestRevision;
  }

  /** Whether the next commit is the one after `revision`. */
  reaches(revision: number): boolean {
    return this.nextRevision() === revision + 1;
  }

  /** Empties the ring: the next commit is the one after `revision`. */
  reset(revision: number): void {
    invariant(Number.isSafeInteger(revision), 'the event ring restarts at no revision');
    invariant(revision >= 0, 'the event ring restarts below revision 0', { revision });
    this.commits = [];
    this.head = 0;
    this.oldestRevision = revision + 1;
    this.persistedRevision = revision;
    this.eventCount = 0;
    this.byteCount = 0;
  }

  append(revision: number, events: readonly StoreEvent[]): void {
    invariant(revision === this.nextRevision(), 'a revision does not follow in the event ring');
    invariant(events.length > 0, 'a commit without events is in the event ring');
    this.commits.push(events);
    this.eventCount += events.length;
    this.byteCount += bytesOf(events);
    this.evict();
  }

  /** The state database has every commit up to `revision`. */
  persisted(revision: number): void {
    invariant(revision >= this.persistedRevision, 'the persisted revision goes back', {
      from: this.persistedRevision,
      to: revision,
    });
    invariant(revision < this.nextRevision(), 'a revision is persisted before it is applied', {
      revision,
      next: this.nextRevision(),
    });
    this.persistedRevision = revision;
    this.evict();
    verify(() => this.isConsistent(), 'the event ring and its sums differ');
  }

  commit(revision: number): readonly StoreEvent[] | undefined {
    if (revision < this.oldestRevision) return undefined;
    const events = this.commits[this.head + revision - this.oldestRevision];
    if (events === undefined) return undefined;
    invariant(events.length > 0, 'an evicted commit is read');
    invariant(events[0]!.revision === revision, 'a commit is in the place of another');
    return events;
  }

  private nextRevision(): number {
    return this.oldestRevision + this.commits.length - this.head;
  }

  private evict(): void {
    while (
      (this.eventCount > this.eventsMax || this.byteCount > this.bytesMax) &&
      this.oldestRevision <= this.persistedRevision &&
      this.head < this.commits.length
    ) {
      const oldest = this.commits[this.head]!;
      this.commits[this.head] = noEvents;
      this.head += 1;
      this.oldestRevision += 1;
      this.eventCount -= oldest.length;
      this.byteCount -= bytesOf(oldest);
      invariant(this.eventCount >= 0, 'the event ring counts fewer than no events');
      invariant(this.byteCount >= 0, 'the event ring counts fewer than no bytes');
      invariant(
        this.oldestRevision <= this.persistedRevision + 1,
        'an unwritten commit is evicted',
      );
    }
    if (this.head > headMin && this.head * 2 > this.commits.length) {
      this.commits = this.commits.slice(this.head);
      this.head = 0;
    }
  }

  private isConsistent(): boolean {
    const stored = this.commits.slice(this.head);
    return (
      stored.reduce((sum, events) => sum + events.length, 0) === this.eventCount &&
      stored.reduce((sum, events) => sum + bytesOf(events), 0) === this.byteCount &&
      stored.every((events, at) => isCommit(events, this.oldestRevision + at))
    );
  }
}

/** Whether all events are of `revision`, in order of their position. */
function isCommit(events: readonly StoreEvent[], revision: number): boolean {
  return events.every(({ entry }, at) => entry.revision === revision && entry.position === at);
}

function bytesOf(events: readonly StoreEvent[]): number {
  let sum = 0;
  for (const event of events) sum += event.entry.bytes.length + eventOverheadBytes;
  return sum;
}
