/**
 * The log as the core sees it (etcd: raftLog): start and end, the term of every entry, the newest
 * entries themselves. Invariant: contiguous from `start.index + 1` to `last.index`, terms never
 * fall, each entry's checksum covers the one before. `WriteQueue` tracks which entries are durable.
 */

import { minIndex, nextIndex, noIndex } from '../brands.js';
import type { CoreOptions, InitialState } from '../core-options.js';
import { invariant } from '../invariant.js';
import type { Entry, LogIndex, LogPoint, Term } from '../types.js';
import { EntryCache } from './entry-cache.js';
import { follows } from './entry-checksum.js';
import { TermRuns } from './term-runs.js';

export class RaftLog {
  private startPoint: LogPoint;
  private lastPoint: LogPoint;
  private readonly terms: TermRuns;
  private readonly cache: EntryCache;

  constructor(
    initial: Pick<InitialState, 'start' | 'last' | 'terms' | 'tail'>,
    options: Pick<CoreOptions, 'cacheEntriesMax' | 'cacheBytesMax'>,
  ) {
    this.startPoint = initial.start;
    this.lastPoint = initial.last;
    this.terms = new TermRuns(initial.terms);
    this.cache = new EntryCache(options.cacheEntriesMax, options.cacheBytesMax);
    this.checkEnds();
    this.loadTail(initial.tail);
  }

  get start(): LogPoint {
    return this.startPoint;
  }

  get last(): LogPoint {
    return this.lastPoint;
  }

  get firstIndex(): LogIndex {
    return nextIndex(this.startPoint.index);
  }

  get cachedEntryCount(): number {
    return this.cache.entryCount;
  }

  /** Undefined outside of `[start, last]`. */
  termAt(index: LogIndex): Term | undefined {
    if (index === this.lastPoint.index) return this.lastPoint.term;
    if (index === this.startPoint.index) return this.startPoint.term;
    if (index < this.startPoint.index || index > this.lastPoint.index) return undefined;
    return this.terms.termAt(index);
  }

  /** Undefined outside of the log, and where the entry is not in memory. */
  pointAt(index: LogIndex): LogPoint | undefined {
    if (index === this.lastPoint.index) return this.lastPoint;
    if (index === this.startPoint.index) return this.startPoint;
    return this.cache.get(index);
  }

  cached(index: LogIndex): Entry | undefined {
    return this.cache.get(index);
  }

  /** Entries from `index` on that are in memory: none, or at least one and within both bounds. */
  take(index: LogIndex, countMax: number, bytesMax: number): Entry[] {
    return this.cache.take(index, countMax, bytesMax);
  }

  /** Undefined: nothing is in memory. */
  get firstCachedIndex(): LogIndex | undefined {
    return this.cache.firstIndex;
  }

  /** Whether a log that ends so may have everything that this one has. */
  isUpToDate(lastIndex: LogIndex, lastTerm: Term): boolean {
    return (
      lastTerm > this.lastPoint.term ||
      (lastTerm === this.lastPoint.term && lastIndex >= this.lastPoint.index)
    );
  }

  /**
   * The last point at or before `index` with a term of at most `term`: where two logs may agree.
   */
  agreementHint(index: LogIndex, term: Term): { index: LogIndex; term: Term } {
    const from = minIndex(index, this.lastPoint.index);
    const found = from <= this.startPoint.index ? undefined : this.terms.lastAtMost(from, term);
    const hint = found ?? this.startPoint.index;
    const hintTerm = this.termAt(hint);
    invariant(hintTerm !== undefined, 'the log is to agree at an entry that it does not have');
    invariant(found === undefined || hintTerm <= term, 'the log is to agree at a later term');
    return { index: hint, term: hintTerm };
  }

  append(entry: Entry): void {
    invariant(
      entry.index === this.lastPoint.index + 1 && entry.term >= this.lastPoint.term,
      `entry ${entry.index} of term ${entry.term} does not follow ${this.lastPoint.index} of ${this.lastPoint.term}`,
    );
    this.terms.append(entry.index, entry.term);
    this.cache.append(entry);
    this.lastPoint = entry;
  }

  /** The log then ends with `last`. */
  truncateAfter(last: LogPoint): void {
    invariant(
      last.index >= this.startPoint.index && this.termAt(last.index) === last.term,
      `cannot truncate the log after ${last.index}`,
    );
    const from = nextIndex(last.index);
    this.terms.truncateFrom(from);
    this.cache.truncateFrom(from);
    this.lastPoint = last;
    invariant(this.cached(from) === undefined, 'a truncated entry is still in memory');
  }

  /** Drops entries up to `point`, which is the new start. */
  compactTo(point: LogPoint): void {
    if (point.index <= this.startPoint.index) return;
    invariant(point.index <= this.lastPoint.index, 'the log is compacted beyond its end');
    invariant(
      this.termAt(point.index) === point.term,
      `the log cannot start after ${point.index} of term ${point.term}`,
    );
    const known = this.pointAt(point.index);
    invariant(
      known === undefined || known.checksum === point.checksum,
      `the log is compacted at ${point.index} with another checksum`,
    );
    this.terms.compactTo(point.index, this.lastPoint.index);
    this.cache.compactTo(point.index);
    invariant(
      (this.firstCachedIndex ?? nextIndex(point.index)) > point.index,
      'a compacted entry is still in memory',
    );
    this.startPoint = { index: point.index, term: point.term, checksum: point.checksum };
  }

  /** Replaces the log by an empty one that starts after `point`. */
  reset(point: LogPoint): void {
    invariant(point.index >= this.startPoint.index, 'a snapshot is older than the log');
    this.terms.truncateFrom(noIndex);
    this.cache.clear();
    this.startPoint = { index: point.index, term: point.term, checksum: point.checksum };
    this.lastPoint = this.startPoint;
  }

  /** Drops old entries from memory where its bounds are exceeded, none from `floor` on. */
  evict(floor: LogIndex): void {
    this.cache.evict(floor);
  }

  private checkEnds(): void {
    const { index, term } = this.lastPoint;
    invariant(index >= this.startPoint.index, 'the log ends before it starts');
    invariant(
      index === this.startPoint.index
        ? term === this.startPoint.term
        : this.terms.termAt(index) === term &&
            this.terms.termAt(this.firstIndex) >= this.startPoint.term,
      'the ends of the log and its terms do not agree',
    );
  }

  private loadTail(tail: readonly Entry[]): void {
    let before: LogPoint | undefined;
    for (const entry of tail) {
      if (entry.index <= this.startPoint.index) continue;
      const known = before ?? (entry.index === this.firstIndex ? this.startPoint : undefined);
      invariant(
        (known === undefined || follows(known, entry)) && this.termAt(entry.index) === entry.term,
        `entry ${entry.index} of the log does not follow the one before`,
      );
      this.cache.append(entry);
      before = entry;
    }
    invariant(
      before === undefined ||
        (before.index === this.lastPoint.index && before.checksum === this.lastPoint.checksum),
      'the newest entries do not end with the log',
    );
  }
}
