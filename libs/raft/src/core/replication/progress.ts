/**
 * The leader's view of one follower. `probe`: one message at a time until the logs are known to
 * agree; `replicate`: pipelined, `nextIndex` runs ahead; `snapshot`: no appends until a snapshot is
 * delivered. Invariant: `matchIndex < nextIndex`; `matchIndex` only increases within a leader's
 * term.
 */

import { maxIndex, nextIndex, noIndex } from '../brands.js';
import type { CoreOptions } from '../core-options.js';
import { invariant } from '../invariant.js';
import type { ReadRequest } from '../output.js';
import type { LogIndex, LogPoint, MemberId } from '../types.js';
import { InFlight } from './in-flight.js';

export type ProgressState = 'probe' | 'replicate' | 'snapshot';

export class Progress {
  readonly inFlight: InFlight;
  private currentState: ProgressState = 'probe';
  private matched = noIndex;
  private next: LogIndex;
  /** In `probe`: an append is in flight. */
  probeSent = false;
  /** Entries that are being read from disk for it. */
  reading: ReadRequest | undefined;
  /** The point before `nextIndex`, when the log no longer has it in memory. */
  previous: LogPoint | undefined;
  /** The commit index that was sent to it. */
  commitSent = noIndex;
  appliedIndex = noIndex;
  /** 0: not reported. */
  diskLatencyMs = 0;
  /** Tick of the leader at which it last responded. */
  lastActiveTick = Number.NEGATIVE_INFINITY;
  /** Set for a removed member: appends continue until this tick of the leader. */
  removedUntilTick: number | undefined;
  /** A heartbeat was sent: its response triggers a probe for lost appends. */
  probeOnResponse = false;

  constructor(
    readonly id: MemberId,
    nextIndex: LogIndex,
    options: Pick<CoreOptions, 'inFlightMessagesMax' | 'inFlightBytesMax'>,
  ) {
    invariant(nextIndex > this.matched, `member ${id}: the first entry to send has no index`);
    this.next = nextIndex;
    this.inFlight = new InFlight(options.inFlightMessagesMax, options.inFlightBytesMax);
  }

  get state(): ProgressState {
    return this.currentState;
  }

  get matchIndex(): LogIndex {
    return this.matched;
  }

  get nextIndex(): LogIndex {
    return this.next;
  }

  /** Whether an append may be sent now. */
  get ready(): boolean {
    if (this.reading) return false;
    if (this.currentState === 'probe') return !this.probeSent;
    return this.currentState === 'replicate' && !this.inFlight.full;
  }

  /** Whether there is nothing to send and no response to wait for, if the log ends at `index`. */
  isSettledAt(index: LogIndex): boolean {
    return this.currentState === 'replicate' && this.matched >= index && this.commitSent >= index;
  }

  /** Returns whether the match index advanced. */
  acknowledge(index: LogIndex): boolean {
    this.inFlight.acknowledge(index);
    if (index <= this.matched) return false;
    this.matched = index;
    if (this.next <= index) this.moveTo(nextIndex(index));
    return true;
  }

  becomeReplicate(): void {
    invariant(this.currentState !== 'replicate', 'replication to a member begins twice');
    this.currentState = 'replicate';
    this.restartAt(nextIndex(this.matched));
  }

  /** Restarts at `from`, or after the match index if that is later. */
  becomeProbe(from: LogIndex): void {
    this.currentState = 'probe';
    this.restartAt(maxIndex(from, nextIndex(this.matched)));
  }

  becomeSnapshot(): void {
    invariant(this.currentState !== 'snapshot', 'a second snapshot is sent to a member');
    this.currentState = 'snapshot';
    this.restartAt(nextIndex(this.matched));
  }

  /** Entries up to and including `last` have been sent. */
  sent(last: LogPoint, byteCount: number): void {
    if (this.currentState === 'probe') {
      this.probeSent = true;
      return;
    }
    invariant(this.currentState === 'replicate', 'entries are sent during a snapshot');
    invariant(last.index >= this.next, 'entries are sent twice');
    this.inFlight.add(last.index, byteCount);
    this.moveTo(nextIndex(last.index));
    this.previous = last;
  }

  private restartAt(nextIndex: LogIndex): void {
    this.probeSent = false;
    this.reading = undefined;
    this.inFlight.clear();
    this.moveTo(nextIndex);
    invariant(this.inFlight.messageCount === 0, 'a restarted member has messages in flight');
  }

  private moveTo(nextIndex: LogIndex): void {
    invariant(nextIndex > this.matched, `member ${this.id}: next ${nextIndex} is not after match`);
    if (this.previous && this.previous.index !== nextIndex - 1) this.previous = undefined;
    this.next = nextIndex;
  }
}
