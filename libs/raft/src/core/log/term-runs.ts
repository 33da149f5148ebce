/**
 * The term of every entry, stored as runs of equal terms: a log of millions of entries has a few of
 * them.
 */
import { nextIndex, previousIndex } from '../brands.js';
import { invariant } from '../invariant.js';
import type { LogIndex, Term } from '../types.js';

export interface TermRun {
  readonly firstIndex: LogIndex;
  readonly term: Term;
}

export class TermRuns {
  private readonly runs: TermRun[];

  constructor(runs: readonly TermRun[]) {
    this.runs = [...runs];
    for (let at = 1; at < runs.length; at += 1) {
      const before = runs[at - 1]!;
      const run = runs[at]!;
      invariant(
        run.firstIndex > before.firstIndex && run.term > before.term,
        `terms fall or repeat in the log at ${run.firstIndex}`,
      );
    }
  }

  /** Only for an index within the log. */
  termAt(index: LogIndex): Term {
    return this.runs[this.runAt(index)]!.term;
  }

  append(index: LogIndex, term: Term): void {
    const newest = this.runs.at(-1);
    if (newest?.term === term) return;
    invariant(
      !newest || newest.term < term,
      `term ${term} appended at ${index} after a higher one`,
    );
    invariant(!newest || newest.firstIndex < index, `term ${term} begins before an earlier one`);
    this.runs.push({ firstIndex: index, term });
  }

  /**
   * The last index at or before `index` whose term is at most `term`; undefined: none within the
   * log.
   */
  lastAtMost(index: LogIndex, term: Term): LogIndex | undefined {
    if (this.runs.length === 0 || index < this.runs[0]!.firstIndex) return undefined;
    let at = this.runAt(index);
    if (this.runs[at]!.term <= term) return index;
    while (at > 0 && this.runs[at - 1]!.term > term) at -= 1;
    return at === 0 ? undefined : previousIndex(this.runs[at]!.firstIndex);
  }

  truncateFrom(index: LogIndex): void {
    while (this.runs.length > 0 && this.runs.at(-1)!.firstIndex >= index) this.runs.pop();
  }

  /** Forgets entries up to `index`; `lastIndex` is that of the log. */
  compactTo(index: LogIndex, lastIndex: LogIndex): void {
    if (index >= lastIndex) {
      this.runs.length = 0;
      return;
    }
    const firstIndex = nextIndex(index);
    const at = this.runAt(firstIndex);
    const { term } = this.runs[at]!;
    this.runs.splice(0, at + 1, { firstIndex, term });
    invariant(
      this.runs.length === 1 || this.runs[1]!.firstIndex > firstIndex,
      'a term begins before the start of the log',
    );
  }

  private runAt(index: LogIndex): number {
    let low = 0;
    let high = this.runs.length - 1;
    // Most lookups are about the newest term.
    if (high >= 0 && this.runs[high]!.firstIndex <= index) return high;
    while (low < high) {
      const middle = (low + high + 1) >>> 1;
      if (this.runs[middle]!.firstIndex <= index) low = middle;
      else high = middle - 1;
    }
    invariant(
      this.runs.length > 0 && this.runs[low]!.firstIndex <= index,
      `the term of entry ${index} is not known`,
    );
    return low;
  }
}
