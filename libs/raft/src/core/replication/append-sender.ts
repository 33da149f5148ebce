/**
 * Creates the append messages for one follower at a time: the next entries, from memory or from
 * disk, within its window, or a snapshot when the entries are compacted. Entries are sent before
 * the leader's own write of them is done.
 */

import { asLogIndex, minIndex, nextIndex, previousIndex } from '../brands.js';
import { mark } from '../coverage-marks.js';
import { invariant } from '../invariant.js';
import { entryBytes } from '../log/entry-cache.js';
import { follows } from '../log/entry-checksum.js';
import type { CoreState } from '../state/core-state.js';
import type { Entry, LogIndex, LogPoint, MemberId } from '../types.js';
import type { Progress } from './progress.js';

export class AppendSender {
  constructor(
    private readonly state: CoreState,
    private readonly isActive: (id: MemberId) => boolean,
  ) {}

  /** Sends as much as the window takes. */
  sendPending(progress: Progress): void {
    while (progress.ready && this.sendNext(progress));
  }

  /**
   * Sends an empty append: if earlier appends were lost, the follower rejects it, and the leader
   * sends them again.
   */
  probeForLoss(progress: Progress): void {
    const previous = this.previousOf(progress);
    if (!previous) return;
    mark('lostAppendNudged');
    this.send(progress, previous, []);
  }

  /** Sends the entries that `progress` waited for; undefined: they are compacted. */
  onEntriesRead(progress: Progress, entries: readonly Entry[] | undefined): void {
    progress.reading = undefined;
    const [first] = entries ?? [];
    if (!entries || !first || this.state.log.termAt(first.index) !== first.term) {
      mark('entriesReadGone');
      // No immediate retry: until this core learns of the compaction, each read would give the same
      // result.
      progress.becomeProbe(nextIndex(progress.matchIndex));
      progress.probeSent = true;
      return;
    }
    this.check(entries);
    mark('entriesFromDisk');
    if (first.index === progress.nextIndex - 1) {
      progress.previous = first;
      if (entries.length > 1 && progress.ready) this.send(progress, first, entries.slice(1));
      return;
    }
    const previous = this.previousOf(progress);
    if (first.index === progress.nextIndex && previous && progress.ready) {
      invariant(
        follows(previous, first),
        `entry ${first.index} does not follow the entries sent before`,
      );
      this.send(progress, previous, entries);
    }
  }

  /** False: nothing more to send now. */
  private sendNext(progress: Progress): boolean {
    const { state } = this;
    const { log, options } = state;
    invariant(progress.ready, 'an append is sent to a member that is not ready');
    invariant(progress.nextIndex <= log.last.index + 1, 'the next index is beyond the log');
    if (progress.nextIndex <= log.start.index) {
      // An inactive member would not take a snapshot either.
      if (!this.isActive(progress.id) || progress.removedUntilTick !== undefined) return false;
      mark('snapshotNeededBehindStart');
      this.sendSnapshot(progress);
      return false;
    }
    const previous = this.previousOf(progress);
    if (!previous) return this.read(progress, previousIndex(progress.nextIndex));
    if (progress.nextIndex > log.last.index) return this.sendEmpty(progress, previous);
    const entries = log.take(progress.nextIndex, options.appendEntriesMax, options.appendBytesMax);
    if (entries.length === 0) return this.read(progress, progress.nextIndex);
    this.send(progress, previous, entries);
    return true;
  }

  /** Probes a log that may be complete, or sends a new commit index. */
  private sendEmpty(progress: Progress, previous: LogPoint): boolean {
    const told = progress.commitSent >= Math.min(this.state.commitIndex, previous.index);
    if (progress.state === 'probe') this.send(progress, previous, []);
    else if (!told) this.send(progress, previous, [], true);
    return false;
  }

  private send(
    progress: Progress,
    previous: LogPoint,
    entries: readonly Entry[],
    notice = false,
  ): void {
    const { state } = this;
    const last = entries.at(-1) ?? previous;
    invariant(
      last.index === previous.index + entries.length,
      'the entries of an append do not follow its previous point',
    );
    invariant(last.index <= state.log.last.index, 'an append reaches beyond the log');
    state.send({
      kind: 'appendRequest',
      from: state.id,
      to: progress.id,
      term: state.term,
      previous: { index: previous.index, term: previous.term, checksum: previous.checksum },
      entries,
      commitIndex: state.commitIndex,
      notice,
    });
    progress.commitSent = minIndex(state.commitIndex, last.index);
    if (entries.length === 0) {
      if (progress.state === 'probe') progress.probeSent = true;
      return;
    }
    let byteCount = 0;
    for (const entry of entries) byteCount += entryBytes(entry);
    progress.sent(last, byteCount);
    if (progress.inFlight.full) mark('windowFull');
  }

  sendSnapshot(progress: Progress): void {
    invariant(progress.id !== this.state.id, 'a leader sends a snapshot to itself');
    progress.becomeSnapshot();
    this.state.outbox.snapshotsToSend.push(progress.id);
  }

  private previousOf(progress: Progress): LogPoint | undefined {
    const index = previousIndex(progress.nextIndex);
    return (
      this.state.log.pointAt(index) ??
      (progress.previous?.index === index ? progress.previous : undefined)
    );
  }

  private read(progress: Progress, from: LogIndex): boolean {
    const { log, options, outbox } = this.state;
    const cached = log.firstCachedIndex ?? log.last.index + 1;
    invariant(from > log.start.index, 'a compacted entry is read for a member');
    invariant(from < cached, 'an entry in memory is read from disk');
    progress.reading = {
      peer: progress.id,
      from,
      to: minIndex(asLogIndex(cached - 1), asLogIndex(from + options.appendEntriesMax - 1)),
      bytesMax: options.appendBytesMax,
    };
    outbox.reads.push(progress.reading);
    return false;
  }

  private check(entries: readonly Entry[]): void {
    for (let at = 1; at < entries.length; at += 1) {
      invariant(
        follows(entries[at - 1]!, entries[at]!),
        `entry ${entries[at]!.index} that was read does not follow the one before`,
      );
    }
  }
}
