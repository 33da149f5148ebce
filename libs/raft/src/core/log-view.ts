/**
 * The log as the core sees it: where it starts and ends, the term of every entry, the newest entries
 * themselves. Invariant: contiguous from `start.index + 1` to `last.index`, terms never fall, each
 * entry's checksum covers the one before. What is on disk is left to `WriteQueue`.
 */
import type { LogIndex } from '../replicated-log.js';
import { EntryCache } from './entry-cache.js';
import { follows } from './entry-checksum.js';
import { invariant } from './invariant.js';
import { TermRuns } from './term-runs.js';
import type { CoreOptions, Entry, InitialState, LogPoint, Term } from './types.js';

export class LogView {
  #start: LogPoint;
  #last: LogPoint;
  readonly #terms: TermRuns;
  readonly #cache: EntryCache;

  constructor(
    initial: Pick<InitialState, 'start' | 'last' | 'terms' | 'tail'>,
    options: Pick<CoreOptions, 'cacheEntriesMax' | 'cacheBytesMax'>,
  ) {
    this.#start = initial.start;
    this.#last = initial.last;
    this.#terms = new TermRuns(initial.terms);
    this.#cache = new EntryCache(options.cacheEntriesMax, options.cacheBytesMax);
    this.#checkEnds();
    this.#loadTail(initial.tail);
  }

  get start(): LogPoint {
    return this.#start;
  }

  get last(): LogPoint {
    return this.#last;
  }

  get firstIndex(): LogIndex {
    return (this.#start.index + 1) as LogIndex;
  }

  get cachedEntryCount(): number {
    return this.#cache.entryCount;
  }

  /** Undefined outside of `[start, last]`. */
  termAt(index: LogIndex): Term | undefined {
    if (index === this.#last.index) return this.#last.term;
    if (index === this.#start.index) return this.#start.term;
    if (index < this.#start.index || index > this.#last.index) return undefined;
    return this.#terms.termAt(index);
  }

  /** Undefined outside of the log, and where the entry is not in memory. */
  pointAt(index: LogIndex): LogPoint | undefined {
    if (index === this.#last.index) return this.#last;
    if (index === this.#start.index) return this.#start;
    return this.#cache.get(index);
  }

  cached(index: LogIndex): Entry | undefined {
    return this.#cache.get(index);
  }

  /** Entries from `index` on that are in memory: none, or at least one and within both bounds. */
  take(index: LogIndex, countMax: number, bytesMax: number): Entry[] {
    return this.#cache.take(index, countMax, bytesMax);
  }

  /** Undefined: nothing is in memory. */
  get firstCachedIndex(): LogIndex | undefined {
    return this.#cache.firstIndex;
  }

  /** Whether a log that ends so may have everything that this one has. */
  isUpToDate(lastIndex: LogIndex, lastTerm: Term): boolean {
    return (
      lastTerm > this.#last.term || (lastTerm === this.#last.term && lastIndex >= this.#last.index)
    );
  }

  /** The last point at or before `index` with a term of at most `term`: where two logs may agree. */
  agreementHint(index: LogIndex, term: Term): { index: LogIndex; term: Term } {
    const from = Math.min(index, this.#last.index) as LogIndex;
    const found = from <= this.#start.index ? undefined : this.#terms.lastAtMost(from, term);
    const hint = found ?? this.#start.index;
    return { index: hint, term: this.termAt(hint)! };
  }

  append(entry: Entry): void {
    invariant(
      entry.index === this.#last.index + 1 && entry.term >= this.#last.term,
      `entry ${entry.index} of term ${entry.term} does not follow ${this.#last.index} of ${this.#last.term}`,
    );
    this.#terms.append(entry.index, entry.term);
    this.#cache.append(entry);
    this.#last = entry;
  }

  /** The log then ends with `last`. */
  truncateAfter(last: LogPoint): void {
    invariant(
      last.index >= this.#start.index && this.termAt(last.index) === last.term,
      `cannot truncate the log after ${last.index}`,
    );
    const from = (last.index + 1) as LogIndex;
    this.#terms.truncateFrom(from);
    this.#cache.truncateFrom(from);
    this.#last = last;
  }

  /** Entries up to `point` are gone. */
  cutTo(point: LogPoint): void {
    if (point.index <= this.#start.index) return;
    invariant(
      this.termAt(point.index) === point.term,
      `the log cannot start after ${point.index} of term ${point.term}`,
    );
    const known = this.pointAt(point.index);
    invariant(
      known === undefined || known.checksum === point.checksum,
      `the log was cut at ${point.index} under another checksum`,
    );
    this.#terms.cutTo(point.index, this.#last.index);
    this.#cache.cutTo(point.index);
    this.#start = { index: point.index, term: point.term, checksum: point.checksum };
  }

  /** Nothing of what was is left; the log begins and ends with `point`. */
  reset(point: LogPoint): void {
    this.#terms.truncateFrom(0 as LogIndex);
    this.#cache.clear();
    this.#start = { index: point.index, term: point.term, checksum: point.checksum };
    this.#last = this.#start;
  }

  /** Drops old entries from memory where its bounds are exceeded, none from `floor` on. */
  evict(floor: LogIndex): void {
    this.#cache.evict(floor);
  }

  #checkEnds(): void {
    const { index, term } = this.#last;
    invariant(index >= this.#start.index, 'the log ends before it starts');
    invariant(
      index === this.#start.index
        ? term === this.#start.term
        : this.#terms.termAt(index) === term &&
            this.#terms.termAt(this.firstIndex) >= this.#start.term,
      'the ends of the log and its terms do not agree',
    );
  }

  #loadTail(tail: readonly Entry[]): void {
    let before: LogPoint | undefined;
    for (const entry of tail) {
      if (entry.index <= this.#start.index) continue;
      const known = before ?? (entry.index === this.firstIndex ? this.#start : undefined);
      invariant(
        (known === undefined || follows(known, entry)) && this.termAt(entry.index) === entry.term,
        `entry ${entry.index} of the log does not follow the one before`,
      );
      this.#cache.append(entry);
      before = entry;
    }
    invariant(
      before === undefined ||
        (before.index === this.#last.index && before.checksum === this.#last.checksum),
      'the newest entries do not end with the log',
    );
  }
}
