/**
 * Reads that must not be stale. A round of heartbeats shows that this leader was still the leader
 * when the round began: all readers that waited by then may read at the commit index of that
 * moment. A reader joins only a round that begins after its arrival; one round is in progress at a
 * time and serves all readers that wait. Each round has a context that is unique in its term, and
 * an acknowledgement counts for that round only.
 */

import { isQuorum } from '../configuration/quorum.js';
import { mark } from '../coverage-marks.js';
import { invariant } from '../invariant.js';
import { waitingReadsMax } from '../limits.js';
import type { CoreState } from '../state/core-state.js';
import type { LogIndex, MemberId } from '../types.js';

export interface Reader {
  /** Chosen by the reader. */
  readonly context: number;
  readonly from: MemberId;
}

interface Round {
  readonly context: number;
  readonly index: LogIndex;
  readonly readers: readonly Reader[];
  readonly acknowledged: Set<MemberId>;
  readonly startTick: number;
}

export class ReadRounds {
  private waiting: Reader[] = [];
  private round: Round | undefined;
  private lastContext = 0;
  /**
   * Tick until which no other leader can be elected, by the last round that a quorum acknowledged.
   */
  private leaseUntilTick = Number.NEGATIVE_INFINITY;

  constructor(private readonly state: CoreState) {}

  /** Context of the round in progress; 0: none. */
  get context(): number {
    return this.round?.context ?? 0;
  }

  /** Whether a reader waits. */
  get isBusy(): boolean {
    return this.waiting.length > 0 || (this.round?.readers.length ?? 0) > 0;
  }

  get waitingCount(): number {
    return this.waiting.length;
  }

  holdsLease(marginTicks: number): boolean {
    return this.state.tick + marginTicks < this.leaseUntilTick;
  }

  add(reader: Reader): void {
    const count = this.waiting.length + (this.round?.readers.length ?? 0);
    if (count >= waitingReadsMax) {
      mark('readRefused');
      respondToRead(this.state, reader, undefined);
    } else this.waiting.push(reader);
    invariant(this.waiting.length <= waitingReadsMax, 'too many reads wait for a round');
  }

  /** Serves all waiting readers without a round. */
  respondToWaiting(): void {
    invariant(this.state.activeRole === 'leader', 'a replica that does not lead serves reads');
    const readers = this.waiting;
    this.waiting = [];
    for (const reader of readers) respondToRead(this.state, reader, this.state.commitIndex);
  }

  /**
   * Begins a round for all waiting readers; the caller sends its heartbeats. False: a round is in
   * progress.
   */
  begin(): boolean {
    if (this.round) return false;
    invariant(this.state.activeRole === 'leader', 'a replica that does not lead confirms reads');
    mark(this.waiting.length > 1 ? 'readRoundShared' : 'readRound');
    this.lastContext += 1;
    this.round = {
      context: this.lastContext,
      index: this.state.commitIndex,
      readers: this.waiting,
      acknowledged: new Set([this.state.id]),
      startTick: this.state.tick,
    };
    this.waiting = [];
    return true;
  }

  /** `from` has acknowledged the heartbeat of round `context` in this term. */
  acknowledge(from: MemberId, context: number): void {
    const round = this.round;
    if (round?.context !== context) {
      if (context !== 0) mark('readStaleAckIgnored');
      return;
    }
    round.acknowledged.add(from);
    const { configurations, options } = this.state;
    if (!isQuorum(configurations.current, (id) => round.acknowledged.has(id))) return;
    invariant(round.index <= this.state.commitIndex, 'a read is served at an uncommitted index');
    invariant(round.startTick <= this.state.tick, 'a round of reads starts in the future');
    this.round = undefined;
    this.leaseUntilTick = round.startTick + options.electionTicks;
    for (const reader of round.readers) respondToRead(this.state, reader, round.index);
  }

  /** This replica leads no longer. */
  rejectAll(): void {
    const readers = [...(this.round?.readers ?? []), ...this.waiting];
    this.round = undefined;
    this.waiting = [];
    invariant(this.state.activeRole !== 'leader', 'a leader rejects all reads');
    for (const reader of readers) respondToRead(this.state, reader, undefined);
  }
}

/** Sends the result to a reader here or on another replica; undefined: it must retry. */
export function respondToRead(
  state: CoreState,
  { context, from }: Reader,
  index: LogIndex | undefined,
): void {
  if (from === state.id) {
    state.outbox.readStates.push({ context, index });
    return;
  }
  state.send({
    kind: 'readIndexResponse',
    from: state.id,
    to: from,
    term: state.term,
    context,
    index,
  });
}
