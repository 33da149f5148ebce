/**
 * Reads that must not be stale. A round of heartbeats shows that this leader was still the leader when
 * the round began: whoever waited by then may read at the commit index of that moment. A reader joins
 * only a round that begins after it came; one round is under way at a time and serves all who wait.
 * Each round has a context of its own in its term, and an acknowledgement counts for that one only.
 */
import type { LogIndex } from '../replicated-log.js';
import type { CoreState } from './core-state.js';
import { mark } from './coverage-marks.js';
import { WAITING_READS_MAX } from './limits.js';
import { isQuorum } from './quorum.js';
import type { MemberId } from './types.js';

export interface Reader {
  /** The asker's own. */
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
  #waiting: Reader[] = [];
  #round: Round | undefined;
  #lastContext = 0;
  /** Tick until which no other leader can be elected, by the last round that a quorum answered. */
  #leaseUntilTick = Number.NEGATIVE_INFINITY;

  constructor(private readonly state: CoreState) {}

  /** Of the round under way; 0: none. */
  get context(): number {
    return this.#round?.context ?? 0;
  }

  get waitingCount(): number {
    return this.#waiting.length;
  }

  holdsLease(marginTicks: number): boolean {
    return this.state.tick + marginTicks < this.#leaseUntilTick;
  }

  add(reader: Reader): void {
    const count = this.#waiting.length + (this.#round?.readers.length ?? 0);
    if (count >= WAITING_READS_MAX) {
      mark('readRefused');
      answerRead(this.state, reader, undefined);
    } else this.#waiting.push(reader);
  }

  /** Answers all who wait without a round. */
  answerWaiting(): void {
    const readers = this.#waiting;
    this.#waiting = [];
    for (const reader of readers) answerRead(this.state, reader, this.state.commitIndex);
  }

  /** Begins a round for all who wait; its heartbeats must go out now. False: one is under way. */
  begin(): boolean {
    if (this.#round) return false;
    mark(this.#waiting.length > 1 ? 'readRoundShared' : 'readRound');
    this.#lastContext += 1;
    this.#round = {
      context: this.#lastContext,
      index: this.state.commitIndex,
      readers: this.#waiting,
      acknowledged: new Set([this.state.id]),
      startTick: this.state.tick,
    };
    this.#waiting = [];
    return true;
  }

  /** `from` has answered the heartbeat of round `context` in this term. */
  acknowledge(from: MemberId, context: number): void {
    const round = this.#round;
    if (round?.context !== context) {
      if (context !== 0) mark('readStaleAckIgnored');
      return;
    }
    round.acknowledged.add(from);
    const { configurations, options } = this.state;
    if (!isQuorum(configurations.current, (id) => round.acknowledged.has(id))) return;
    this.#round = undefined;
    this.#leaseUntilTick = round.startTick + options.electionTicks;
    for (const reader of round.readers) answerRead(this.state, reader, round.index);
  }

  /** This replica leads no longer. */
  refuseAll(): void {
    const readers = [...(this.#round?.readers ?? []), ...this.#waiting];
    this.#round = undefined;
    this.#waiting = [];
    for (const reader of readers) answerRead(this.state, reader, undefined);
  }
}

/** Tells a reader here or on another replica; undefined: ask again. */
export function answerRead(
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
