/**
 * What the leader knows of one follower. `probe`: one message at a time until the logs are known to
 * agree; `replicate`: pipelined, `nextIndex` runs ahead; `snapshot`: nothing until one was delivered.
 * Invariant: `matchIndex < nextIndex`; `matchIndex` only grows within a leader's term.
 */
import type { LogIndex } from '../replicated-log.js';
import { InFlight } from './in-flight.js';
import { invariant } from './invariant.js';
import type { CoreOptions, LogPoint, MemberId, ReadRequest } from './types.js';

export type ProgressState = 'probe' | 'replicate' | 'snapshot';

export class Progress {
  readonly inFlight: InFlight;
  #state: ProgressState = 'probe';
  #matchIndex = 0 as LogIndex;
  #nextIndex: LogIndex;
  /** In `probe`: sent and not yet answered. */
  probeSent = false;
  /** Entries that are being read from disk for it. */
  reading: ReadRequest | undefined;
  /** The point before `nextIndex`, when the log no longer has it in memory. */
  previous: LogPoint | undefined;
  /** Up to where it has been told of commits. */
  commitSent = 0 as LogIndex;
  appliedIndex = 0 as LogIndex;
  /** 0: not told. */
  diskLatencyMs = 0;
  /** The leader's tick at which it last answered. */
  heardAtTick = Number.NEGATIVE_INFINITY;
  /** Removed from the configuration: still told of it until this tick of the leader. */
  departsAtTick: number | undefined;
  /** A heartbeat went out since it was last looked after: its answer restarts what got lost. */
  nudge = false;

  constructor(
    readonly id: MemberId,
    nextIndex: LogIndex,
    options: Pick<CoreOptions, 'inFlightMessagesMax' | 'inFlightBytesMax'>,
  ) {
    this.#nextIndex = nextIndex;
    this.inFlight = new InFlight(options.inFlightMessagesMax, options.inFlightBytesMax);
  }

  get state(): ProgressState {
    return this.#state;
  }

  get matchIndex(): LogIndex {
    return this.#matchIndex;
  }

  get nextIndex(): LogIndex {
    return this.#nextIndex;
  }

  /** Whether an append may be sent now. */
  get open(): boolean {
    if (this.reading) return false;
    if (this.#state === 'probe') return !this.probeSent;
    return this.#state === 'replicate' && !this.inFlight.full;
  }

  /** True when that is news. */
  acknowledge(index: LogIndex): boolean {
    this.inFlight.acknowledge(index);
    if (index <= this.#matchIndex) return false;
    this.#matchIndex = index;
    if (this.#nextIndex <= index) this.#moveTo((index + 1) as LogIndex);
    return true;
  }

  becomeReplicate(): void {
    this.#state = 'replicate';
    this.#restartAt((this.#matchIndex + 1) as LogIndex);
  }

  /** Sends from `nextIndex` on, which is never at or below what is known to match. */
  becomeProbe(nextIndex: LogIndex): void {
    this.#state = 'probe';
    this.#restartAt(Math.max(nextIndex, this.#matchIndex + 1) as LogIndex);
  }

  becomeSnapshot(): void {
    this.#state = 'snapshot';
    this.#restartAt((this.#matchIndex + 1) as LogIndex);
  }

  /** Entries up to and including `last` have been sent. */
  sent(last: LogPoint, byteCount: number): void {
    if (this.#state === 'probe') {
      this.probeSent = true;
      return;
    }
    this.inFlight.add(last.index, byteCount);
    this.#moveTo((last.index + 1) as LogIndex);
    this.previous = last;
  }

  #restartAt(nextIndex: LogIndex): void {
    this.probeSent = false;
    this.reading = undefined;
    this.inFlight.clear();
    this.#moveTo(nextIndex);
  }

  #moveTo(nextIndex: LogIndex): void {
    invariant(
      nextIndex > this.#matchIndex,
      `member ${this.id}: next ${nextIndex} is not after match`,
    );
    if (this.previous && this.previous.index !== nextIndex - 1) this.previous = undefined;
    this.#nextIndex = nextIndex;
  }
}
