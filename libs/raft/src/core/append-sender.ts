/**
 * Makes the append messages for one follower at a time: which entries come next, from memory or from
 * disk, within its window, and when only a snapshot helps. Entries are sent before the leader's own
 * write of them is done.
 */
import type { LogIndex } from '../replicated-log.js';
import type { CoreState } from './core-state.js';
import { mark } from './coverage-marks.js';
import { entryBytes } from './entry-cache.js';
import { follows } from './entry-checksum.js';
import { invariant } from './invariant.js';
import type { Progress } from './progress.js';
import type { Entry, LogPoint, MemberId } from './types.js';

export class AppendSender {
  constructor(
    private readonly state: CoreState,
    private readonly isActive: (id: MemberId) => boolean,
  ) {}

  /** Sends as much as the window takes. */
  fill(progress: Progress): void {
    while (progress.open && this.#sendNext(progress));
  }

  /** What was sent may be lost: an empty message is refused if so, and that restarts it. */
  nudge(progress: Progress): void {
    const previous = this.#previousOf(progress);
    if (!previous) return;
    mark('lostAppendNudged');
    this.#send(progress, previous, []);
  }

  /** What `progress` had asked for; undefined: it has been cut off, or is about to be truncated. */
  onEntriesRead(progress: Progress, entries: readonly Entry[] | undefined): void {
    progress.reading = undefined;
    const [first] = entries ?? [];
    if (!entries || !first || this.state.log.termAt(first.index) !== first.term) {
      mark('entriesReadGone');
      // Not again at once: until the cut is known here, the answer would be the same without end.
      progress.becomeProbe((progress.matchIndex + 1) as LogIndex);
      progress.probeSent = true;
      return;
    }
    this.#check(entries);
    mark('entriesFromDisk');
    if (first.index === progress.nextIndex - 1) {
      progress.previous = first;
      if (entries.length > 1 && progress.open) this.#send(progress, first, entries.slice(1));
      return;
    }
    const previous = this.#previousOf(progress);
    if (first.index === progress.nextIndex && previous && progress.open) {
      invariant(follows(previous, first), `entry ${first.index} does not follow what was sent`);
      this.#send(progress, previous, entries);
    }
  }

  /** False: nothing more to send now. */
  #sendNext(progress: Progress): boolean {
    const { state } = this;
    const { log, options } = state;
    if (progress.nextIndex <= log.start.index) {
      // A member that does not answer would not take a snapshot either.
      if (!this.isActive(progress.id) || progress.departsAtTick !== undefined) return false;
      mark('snapshotNeededBehindStart');
      this.sendSnapshot(progress);
      return false;
    }
    const previous = this.#previousOf(progress);
    if (!previous) return this.#read(progress, (progress.nextIndex - 1) as LogIndex);
    if (progress.nextIndex > log.last.index) return this.#sendEmpty(progress, previous);
    const entries = log.take(progress.nextIndex, options.appendEntriesMax, options.appendBytesMax);
    if (entries.length === 0) return this.#read(progress, progress.nextIndex);
    this.#send(progress, previous, entries);
    return true;
  }

  /** A probe of a log that may be complete, or news of commits. */
  #sendEmpty(progress: Progress, previous: LogPoint): boolean {
    const told = progress.commitSent >= Math.min(this.state.commitIndex, previous.index);
    if (progress.state === 'probe' || !told) this.#send(progress, previous, []);
    return false;
  }

  #send(progress: Progress, previous: LogPoint, entries: readonly Entry[]): void {
    const { state } = this;
    const last = entries.at(-1) ?? previous;
    state.send({
      kind: 'appendRequest',
      from: state.id,
      to: progress.id,
      term: state.term,
      previous: { index: previous.index, term: previous.term, checksum: previous.checksum },
      entries,
      commitIndex: state.commitIndex,
    });
    progress.commitSent = Math.min(state.commitIndex, last.index) as LogIndex;
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
    progress.becomeSnapshot();
    this.state.outbox.snapshotsToSend.push(progress.id);
  }

  #previousOf(progress: Progress): LogPoint | undefined {
    const index = (progress.nextIndex - 1) as LogIndex;
    return (
      this.state.log.pointAt(index) ??
      (progress.previous?.index === index ? progress.previous : undefined)
    );
  }

  #read(progress: Progress, from: LogIndex): boolean {
    const { log, options, outbox } = this.state;
    const cached = log.firstCachedIndex ?? log.last.index + 1;
    progress.reading = {
      peer: progress.id,
      from,
      to: Math.min(cached - 1, from + options.appendEntriesMax - 1) as LogIndex,
      bytesMax: options.appendBytesMax,
    };
    outbox.reads.push(progress.reading);
    return false;
  }

  #check(entries: readonly Entry[]): void {
    for (let at = 1; at < entries.length; at += 1) {
      invariant(
        follows(entries[at - 1]!, entries[at]!),
        `entry ${entries[at]!.index} that was read does not follow the one before`,
      );
    }
  }
}
