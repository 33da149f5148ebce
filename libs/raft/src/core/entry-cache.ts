/**
 * The newest entries, in memory. Bounded by count and bytes, except that nothing from the floor on is
 * evicted: what is not yet durable or not yet committed is found nowhere else, or needed next.
 */
import type { LogIndex } from '../replicated-log.js';
import { invariant } from './invariant.js';
import { CACHE_SLACK_ENTRIES, ENTRY_OVERHEAD_BYTES } from './limits.js';
import type { Entry } from './types.js';

export function entryBytes(entry: Entry): number {
  return entry.data.length + ENTRY_OVERHEAD_BYTES;
}

export class EntryCache {
  #entries: (Entry | undefined)[] = [];
  /** Slots before it are evicted and hold nothing. */
  #head = 0;
  #byteCount = 0;

  constructor(
    private readonly entriesMax: number,
    private readonly bytesMax: number,
  ) {}

  get entryCount(): number {
    return this.#entries.length - this.#head;
  }

  get byteCount(): number {
    return this.#byteCount;
  }

  /** Undefined when empty. */
  get firstIndex(): LogIndex | undefined {
    return this.#entries[this.#head]?.index;
  }

  get(index: LogIndex): Entry | undefined {
    const first = this.firstIndex;
    if (first === undefined || index < first) return undefined;
    return this.#entries[this.#head + (index - first)];
  }

  append(entry: Entry): void {
    const newest = this.#entries.at(-1);
    invariant(
      this.entryCount === 0 || newest!.index + 1 === entry.index,
      `entry ${entry.index} does not follow in the cache`,
    );
    this.#entries.push(entry);
    this.#byteCount += entryBytes(entry);
  }

  /** Entries from `index` on, at least one if it is here, within both bounds. */
  take(index: LogIndex, countMax: number, bytesMax: number): Entry[] {
    const first = this.firstIndex;
    if (first === undefined || index < first) return [];
    const taken: Entry[] = [];
    let byteCount = 0;
    for (let at = this.#head + (index - first); at < this.#entries.length; at += 1) {
      const entry = this.#entries[at]!;
      byteCount += entryBytes(entry);
      if (taken.length === countMax || (taken.length > 0 && byteCount > bytesMax)) break;
      taken.push(entry);
    }
    return taken;
  }

  truncateFrom(index: LogIndex): void {
    while (this.entryCount > 0 && this.#entries.at(-1)!.index >= index) {
      this.#byteCount -= entryBytes(this.#entries.pop()!);
    }
    if (this.entryCount === 0) this.clear();
  }

  /** Drops the oldest while a bound is exceeded, but nothing from `floor` on. */
  evict(floor: LogIndex): void {
    while (
      (this.entryCount > this.entriesMax || this.#byteCount > this.bytesMax) &&
      this.firstIndex! < floor
    ) {
      this.#dropOldest();
    }
    this.#compact();
  }

  /** Drops everything up to `index`. */
  cutTo(index: LogIndex): void {
    while (this.entryCount > 0 && this.firstIndex! <= index) this.#dropOldest();
    this.#compact();
  }

  clear(): void {
    this.#entries = [];
    this.#head = 0;
    this.#byteCount = 0;
  }

  #dropOldest(): void {
    this.#byteCount -= entryBytes(this.#entries[this.#head]!);
    this.#entries[this.#head] = undefined;
    this.#head += 1;
  }

  /** Moving the rest only once as much was dropped keeps it amortised constant. */
  #compact(): void {
    if (this.entryCount === 0) this.clear();
    else if (this.#head > CACHE_SLACK_ENTRIES && this.#head * 2 > this.#entries.length) {
      this.#entries = this.#entries.slice(this.#head);
      this.#head = 0;
    }
  }
}
