/**
 * The most recent commits with their events, from which resuming watches catch up. Invariant:
 * complete for every revision greater than `after`, up to the newest.
 */
import { invariant } from '@orch/component';
import type { Revision } from '../../versioned-store.js';
import type { EtcdWatchEvent } from '../layout/changes.js';

export interface RecentCommit {
  readonly revision: Revision;
  readonly events: readonly EtcdWatchEvent[];
}

const eventOverheadBytes = 256;
const compactHead = 1_024;

export class RecentCommits {
  private commits: RecentCommit[] = [];
  private head = 0;
  private droppedRevision = 0 as Revision;
  private eventCount = 0;
  private byteCount = 0;

  constructor(
    private readonly eventsMax: number,
    private readonly bytesMax: number,
  ) {}

  /** Every commit after this revision is in memory. */
  get after(): Revision {
    return this.droppedRevision;
  }

  /** Empties the memory: the next commit follows `revision`. */
  reset(revision: Revision): void {
    this.commits = [];
    this.head = 0;
    this.droppedRevision = revision;
    this.eventCount = 0;
    this.byteCount = 0;
  }

  append(commit: RecentCommit): void {
    const newest = this.commits.at(-1)?.revision ?? this.droppedRevision;
    invariant(commit.revision > newest, 'a recent commit is not newer than the one before', {
      revision: commit.revision,
      newest,
    });
    this.commits.push(commit);
    this.eventCount += commit.events.length;
    this.byteCount += bytesOf(commit);
    while (this.eventCount > this.eventsMax || this.byteCount > this.bytesMax) this.dropOldest();
    if (this.head > compactHead && this.head * 2 > this.commits.length) {
      this.commits = this.commits.slice(this.head);
      this.head = 0;
    }
  }

  /** Commits with `after` < revision <= `upTo`, oldest first. */
  *between(after: Revision, upTo: Revision): Generator<RecentCommit> {
    invariant(after >= this.droppedRevision, 'recent commits are requested that were dropped', {
      after,
      dropped: this.droppedRevision,
    });
    let low = this.head;
    let high = this.commits.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.commits[middle]!.revision <= after) low = middle + 1;
      else high = middle;
    }
    for (; low < this.commits.length; low += 1) {
      const commit = this.commits[low]!;
      if (commit.revision > upTo) return;
      yield commit;
    }
  }

  private dropOldest(): void {
    const oldest = this.commits[this.head]!;
    this.commits[this.head] = { revision: oldest.revision, events: [] };
    this.head += 1;
    this.droppedRevision = oldest.revision;
    this.eventCount -= oldest.events.length;
    this.byteCount -= bytesOf(oldest);
  }
}

function bytesOf({ events }: RecentCommit): number {
  let sum = 0;
  for (const { entry } of events) sum += entry.bytes.length + eventOverheadBytes;
  return sum;
}
