/**
 * Hands committed entries to the state, each once and in order, at most so far ahead of what it has
 * applied. Only what is durable here, too, is handed over: the state must never be ahead of the log.
 */
import type { LogIndex } from '../replicated-log.js';
import type { CoreState } from './core-state.js';
import { mark } from './coverage-marks.js';
import { entryBytes } from './entry-cache.js';
import { follows } from './entry-checksum.js';
import { invariant } from './invariant.js';
import type { Entry, LogPoint, ReadRequest } from './types.js';

export class Delivery {
  #deliveredIndex: LogIndex;
  /** The last delivered point, when known: entries read from disk must follow it. */
  #delivered: LogPoint | undefined;
  #unappliedBytes = 0;
  /** Delivered and not yet applied, oldest first. */
  #batches: { readonly lastIndex: LogIndex; readonly byteCount: number }[] = [];
  #reading: ReadRequest | undefined;
  /** What came from disk and was not yet handed over. */
  #fromDisk: readonly Entry[] = [];

  constructor(
    private readonly state: CoreState,
    appliedIndex: LogIndex,
  ) {
    this.#deliveredIndex = appliedIndex;
    this.#delivered = state.log.pointAt(appliedIndex);
    state.appliedIndex = appliedIndex;
  }

  onApplied(index: LogIndex): void {
    const { state } = this;
    // What was applied before a snapshot took its place.
    if (index <= state.appliedIndex) return;
    invariant(
      index <= this.#deliveredIndex,
      `entry ${index} is applied, but only ${this.#deliveredIndex} was committed here`,
    );
    state.appliedIndex = index;
    let count = 0;
    while (count < this.#batches.length && this.#batches[count]!.lastIndex <= index) {
      this.#unappliedBytes -= this.#batches[count]!.byteCount;
      count += 1;
    }
    if (count > 0) this.#batches.splice(0, count);
  }

  /** The state is as of `point`. */
  restartAfter(point: LogPoint): void {
    this.#deliveredIndex = point.index;
    this.#delivered = point;
    this.#unappliedBytes = 0;
    this.#batches = [];
    this.#reading = undefined;
    this.#fromDisk = [];
    this.state.appliedIndex = point.index;
  }

  /** Entries to hand over now. */
  take(): readonly Entry[] {
    const { state } = this;
    if (state.needsSnapshot || state.installing) return [];
    const end = Math.min(state.commitIndex, state.writes.stableIndex) as LogIndex;
    if (end < state.commitIndex) mark('deliveryWaitsForDisk');
    if (this.#deliveredIndex >= end) return [];
    const countMax = Math.min(
      state.options.unappliedEntriesMax - (this.#deliveredIndex - state.appliedIndex),
      end - this.#deliveredIndex,
    );
    const bytesMax = state.options.unappliedBytesMax - this.#unappliedBytes;
    if (countMax <= 0 || bytesMax <= 0) {
      mark('deliveryHeldBack');
      return [];
    }
    const entries = this.#next(countMax, bytesMax);
    if (entries.length === 0) this.#read(end);
    else this.#note(entries);
    return entries;
  }

  onEntriesRead(request: ReadRequest, entries: readonly Entry[] | undefined): void {
    if (this.#reading?.from !== request.from || this.#reading.to !== request.to) {
      mark('entriesReadStale');
      return;
    }
    this.#reading = undefined;
    invariant(
      entries !== undefined && entries[0]?.index === this.#deliveredIndex + 1,
      `entry ${this.#deliveredIndex + 1} is missing in the log although it was not applied`,
    );
    let before = this.#delivered;
    for (const entry of entries) {
      invariant(
        (before === undefined || follows(before, entry)) &&
          this.state.log.termAt(entry.index) === entry.term,
        `entry ${entry.index} that was read does not follow the one before`,
      );
      before = entry;
    }
    mark('deliveryFromDisk');
    this.#fromDisk = entries;
  }

  #next(countMax: number, bytesMax: number): readonly Entry[] {
    const index = (this.#deliveredIndex + 1) as LogIndex;
    if (this.#fromDisk.length === 0) return this.state.log.take(index, countMax, bytesMax);
    const entries: Entry[] = [];
    let byteCount = 0;
    for (const entry of this.#fromDisk) {
      byteCount += entryBytes(entry);
      if (entries.length === countMax || (entries.length > 0 && byteCount > bytesMax)) break;
      entries.push(entry);
    }
    this.#fromDisk = this.#fromDisk.slice(entries.length);
    return entries;
  }

  #note(entries: readonly Entry[]): void {
    const last = entries.at(-1)!;
    invariant(entries[0]!.index === this.#deliveredIndex + 1, 'delivery leaves out an entry');
    let byteCount = 0;
    for (const entry of entries) byteCount += entryBytes(entry);
    this.#batches.push({ lastIndex: last.index, byteCount });
    this.#unappliedBytes += byteCount;
    this.#deliveredIndex = last.index;
    this.#delivered = last;
  }

  #read(end: LogIndex): void {
    if (this.#reading) return;
    const { state } = this;
    const cached = state.log.firstCachedIndex;
    const from = (this.#deliveredIndex + 1) as LogIndex;
    this.#reading = {
      peer: state.id,
      from,
      to: Math.min(
        end,
        cached === undefined ? end : cached - 1,
        from + state.options.appendEntriesMax - 1,
      ) as LogIndex,
      bytesMax: state.options.appendBytesMax,
    };
    state.outbox.reads.push(this.#reading);
  }
}
