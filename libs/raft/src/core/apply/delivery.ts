/**
 * Delivers committed entries to the state, each once and in order. Entries that are delivered but
 * not yet applied are bounded. An entry is delivered only when it is durable here as well: the
 * state must never be ahead of the log.
 */

import { asLogIndex, minIndex, nextIndex } from '../brands.js';
import { mark } from '../coverage-marks.js';
import { invariant } from '../invariant.js';
import { entryBytes } from '../log/entry-cache.js';
import { follows } from '../log/entry-checksum.js';
import type { ReadRequest } from '../output.js';
import type { CoreState } from '../state/core-state.js';
import type { Entry, LogIndex, LogPoint } from '../types.js';

export class Delivery {
  private deliveredIndex: LogIndex;
  /** The last delivered point, when known: entries read from disk must follow it. */
  private delivered: LogPoint | undefined;
  private unappliedBytes = 0;
  /** Delivered and not yet applied, oldest first. */
  private batches: { readonly lastIndex: LogIndex; readonly byteCount: number }[] = [];
  private reading: ReadRequest | undefined;
  /** Entries read from disk that are not yet delivered. */
  private fromDisk: readonly Entry[] = [];

  constructor(
    private readonly state: CoreState,
    appliedIndex: LogIndex,
  ) {
    this.deliveredIndex = appliedIndex;
    this.delivered = state.log.pointAt(appliedIndex);
    state.appliedIndex = appliedIndex;
  }

  onApplied(index: LogIndex): void {
    const { state } = this;
    // Applied before a snapshot replaced the state.
    if (index <= state.appliedIndex) return;
    invariant(
      index <= this.deliveredIndex,
      `entry ${index} is applied, but only ${this.deliveredIndex} was committed here`,
    );
    state.appliedIndex = index;
    let count = 0;
    while (count < this.batches.length && this.batches[count]!.lastIndex <= index) {
      this.unappliedBytes -= this.batches[count]!.byteCount;
      count += 1;
    }
    if (count > 0) this.batches.splice(0, count);
    invariant(this.unappliedBytes >= 0, 'more bytes are applied than were delivered');
  }

  /** The state is as of `point`. */
  restartAfter(point: LogPoint): void {
    invariant(point.index >= this.state.appliedIndex, 'a snapshot is older than the state');
    this.deliveredIndex = point.index;
    this.delivered = point;
    this.unappliedBytes = 0;
    this.batches = [];
    this.reading = undefined;
    this.fromDisk = [];
    this.state.appliedIndex = point.index;
  }

  /** Entries to hand over now. */
  take(): readonly Entry[] {
    const { state } = this;
    if (state.needsSnapshot || state.installing) return [];
    invariant(this.deliveredIndex <= state.commitIndex, 'an uncommitted entry was delivered');
    invariant(
      state.appliedIndex <= this.deliveredIndex,
      'an entry was applied before its delivery',
    );
    const end = minIndex(state.commitIndex, state.writes.stableIndex);
    if (end < state.commitIndex) mark('deliveryWaitsForDisk');
    if (this.deliveredIndex >= end) return [];
    const countMax = Math.min(
      state.options.unappliedEntriesMax - (this.deliveredIndex - state.appliedIndex),
      end - this.deliveredIndex,
    );
    const bytesMax = state.options.unappliedBytesMax - this.unappliedBytes;
    if (countMax <= 0 || bytesMax <= 0) {
      mark('deliveryHeldBack');
      return [];
    }
    const entries = this.next(countMax, bytesMax);
    if (entries.length === 0) this.read(end);
    else this.note(entries);
    return entries;
  }

  onEntriesRead(request: ReadRequest, entries: readonly Entry[] | undefined): void {
    if (this.reading?.from !== request.from || this.reading.to !== request.to) {
      mark('entriesReadStale');
      return;
    }
    this.reading = undefined;
    invariant(
      entries !== undefined && entries[0]?.index === this.deliveredIndex + 1,
      `entry ${this.deliveredIndex + 1} is missing in the log although it was not applied`,
    );
    let before = this.delivered;
    for (const entry of entries) {
      invariant(
        (before === undefined || follows(before, entry)) &&
          this.state.log.termAt(entry.index) === entry.term,
        `entry ${entry.index} that was read does not follow the one before`,
      );
      before = entry;
    }
    mark('deliveryFromDisk');
    this.fromDisk = entries;
  }

  private next(countMax: number, bytesMax: number): readonly Entry[] {
    const index = nextIndex(this.deliveredIndex);
    if (this.fromDisk.length === 0) return this.state.log.take(index, countMax, bytesMax);
    const entries: Entry[] = [];
    let byteCount = 0;
    for (const entry of this.fromDisk) {
      byteCount += entryBytes(entry);
      if (entries.length === countMax || (entries.length > 0 && byteCount > bytesMax)) break;
      entries.push(entry);
    }
    this.fromDisk = this.fromDisk.slice(entries.length);
    return entries;
  }

  private note(entries: readonly Entry[]): void {
    const last = entries.at(-1)!;
    invariant(entries[0]!.index === this.deliveredIndex + 1, 'delivery leaves out an entry');
    let byteCount = 0;
    for (const entry of entries) byteCount += entryBytes(entry);
    this.batches.push({ lastIndex: last.index, byteCount });
    this.unappliedBytes += byteCount;
    this.deliveredIndex = last.index;
    this.delivered = last;
    invariant(this.deliveredIndex <= this.state.commitIndex, 'an uncommitted entry is delivered');
  }

  private read(end: LogIndex): void {
    if (this.reading) return;
    const { state } = this;
    const cached = state.log.firstCachedIndex;
    const from = nextIndex(this.deliveredIndex);
    invariant(from <= end, 'an entry is read that is not to be delivered');
    invariant(cached === undefined || from < cached, 'an entry in memory is read from disk');
    this.reading = {
      peer: state.id,
      from,
      to: asLogIndex(
        Math.min(
          end,
          cached === undefined ? end : cached - 1,
          from + state.options.appendEntriesMax - 1,
        ),
      ),
      bytesMax: state.options.appendBytesMax,
    };
    state.outbox.reads.push(this.reading);
  }
}
