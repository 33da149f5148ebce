/**
 * The most recent commits with their events: what watches that resume are brought up to date from.
 * Invariant: complete for every revision greater than `after`, up to the newest.
 */
import type { EtcdWatchEvent } from './changes.js';

export interface RecentCommit {
  readonly revision: number;
  readonly events: readonly EtcdWatchEvent[];
}

const EVENT_OVERHEAD_BYTES = 256;

export class RecentCommits {
  #commits: RecentCommit[] = [];
  #head = 0;
  #after = 0;
  #eventCount = 0;
  #byteCount = 0;

  constructor(
    private readonly eventsMax: number,
    private readonly bytesMax: number,
  ) {}

  /** Nothing is missing of what came after this revision. */
  get after(): number {
    return this.#after;
  }

  /** Starts over behind `revision`. */
  reset(revision: number): void {
    this.#commits = [];
    this.#head = 0;
    this.#after = revision;
    this.#eventCount = 0;
    this.#byteCount = 0;
  }

  append(commit: RecentCommit): void {
    this.#commits.push(commit);
    this.#eventCount += commit.events.length;
    this.#byteCount += bytesOf(commit);
    while (this.#eventCount > this.eventsMax || this.#byteCount > this.bytesMax) this.#drop();
    if (this.#head > 1_024 && this.#head * 2 > this.#commits.length) {
      this.#commits = this.#commits.slice(this.#head);
      this.#head = 0;
    }
  }

  /** The commits after `revision`, which must not be less than `after`, oldest first. */
  *since(revision: number): Generator<RecentCommit> {
    let low = this.#head;
    let high = this.#commits.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#commits[middle]!.revision <= revision) low = middle + 1;
      else high = middle;
    }
    for (; low < this.#commits.length; low += 1) yield this.#commits[low]!;
  }

  #drop(): void {
    const oldest = this.#commits[this.#head]!;
    this.#commits[this.#head] = { revision: oldest.revision, events: [] };
    this.#head += 1;
    this.#after = oldest.revision;
    this.#eventCount -= oldest.events.length;
    this.#byteCount -= bytesOf(oldest);
  }
}

function bytesOf({ events }: RecentCommit): number {
  let sum = 0;
  for (const { entry } of events) sum += entry.bytes.length + EVENT_OVERHEAD_BYTES;
  return sum;
}
