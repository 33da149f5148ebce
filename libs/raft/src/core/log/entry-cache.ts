/**
 * The newest entries, in memory. Bounded by count and bytes, except that no entry from the floor on
 * is evicted: entries that are not yet durable or committed exist only here or are needed next.
 */
import { invariant } from '../invariant.js';
import { cacheSlackEntries, entryOverheadBytes } from '../limits.js';
import type { Entry, LogIndex } from '../types.js';

export function entryBytes(entry: Entry): number {
  return entry.data.length + entryOverheadBytes;
}

export class EntryCache {
  private entries: (Entry | undefined)[] = [];
  /** Slots before it are evicted and hold nothing. */
  private head = 0;
  private cachedBytes = 0;

  constructor(
    private readonly entriesMax: number,
    private readonly bytesMax: number,
  ) {
    invariant(entriesMax >= 0 && bytesMax >= 0, 'the entry cache has negative limits');
  }

  get entryCount(): number {
    return this.entries.length - this.head;
  }

  get byteCount(): number {
    return this.cachedBytes;
  }

  /** Undefined when empty. */
  get firstIndex(): LogIndex | undefined {
    return this.entries[this.head]?.index;
  }

  get(index: LogIndex): Entry | undefined {
    const first = this.firstIndex;
    if (first === undefined || index < first) return undefined;
    const entry = this.entries[this.head + (index - first)];
    invariant(!entry || entry.index === index, 'the cache has an entry in the place of another');
    return entry;
  }

  append(entry: Entry): void {
    const newest = this.entries.at(-1);
    invariant(
      this.entryCount === 0 || newest!.index + 1 === entry.index,
      `entry ${entry.index} does not follow in the cache`,
    );
    this.entries.push(entry);
    this.cachedBytes += entryBytes(entry);
  }

  /** Entries from `index` on, at least one if it is here, within both bounds. */
  take(index: LogIndex, countMax: number, bytesMax: number): Entry[] {
    invariant(countMax > 0, 'no entry is taken from the cache');
    const first = this.firstIndex;
    if (first === undefined || index < first) return [];
    const taken: Entry[] = [];
    let byteCount = 0;
    for (let at = this.head + (index - first); at < this.entries.length; at += 1) {
      const entry = this.entries[at]!;
      byteCount += entryBytes(entry);
      if (taken.length === countMax || (taken.length > 0 && byteCount > bytesMax)) break;
      taken.push(entry);
    }
    invariant(
      taken.length === 0 || taken[0]!.index === index,
      'other entries are taken from the cache than requested',
    );
    return taken;
  }

  truncateFrom(index: LogIndex): void {
    while (this.entryCount > 0 && this.entries.at(-1)!.index >= index) {
      this.cachedBytes -= entryBytes(this.entries.pop()!);
    }
    invariant(this.cachedBytes >= 0, 'the cache counts fewer bytes than none');
    if (this.entryCount === 0) this.clear();
  }

  /** Drops the oldest while a bound is exceeded, but nothing from `floor` on. */
  evict(floor: LogIndex): void {
    while (
      (this.entryCount > this.entriesMax || this.cachedBytes > this.bytesMax) &&
      this.firstIndex! < floor
    ) {
      this.dropOldest();
    }
    this.reclaimSlots();
  }

  /** Drops everything up to `index`. */
  compactTo(index: LogIndex): void {
    while (this.entryCount > 0 && this.firstIndex! <= index) this.dropOldest();
    this.reclaimSlots();
  }

  clear(): void {
    this.entries = [];
    this.head = 0;
    this.cachedBytes = 0;
  }

  private dropOldest(): void {
    invariant(this.entryCount > 0, 'an empty cache drops an entry');
    this.cachedBytes -= entryBytes(this.entries[this.head]!);
    invariant(this.cachedBytes >= 0, 'the cache counts fewer bytes than none');
    this.entries[this.head] = undefined;
    this.head += 1;
  }

  /** Moving the rest only once as much was dropped keeps it amortised constant. */
  private reclaimSlots(): void {
    if (this.entryCount === 0) this.clear();
    else if (this.head > cacheSlackEntries && this.head * 2 > this.entries.length) {
      this.entries = this.entries.slice(this.head);
      this.head = 0;
    }
    invariant(this.entryCount > 0 || this.cachedBytes === 0, 'an empty cache counts bytes');
  }
}
