/**
 * Giving the lead to another voter: brought up to date first, then told to stand for election at once.
 * Proposals are refused meanwhile. If nothing comes of it within an election timeout, this leader goes
 * on. Requests outlive the leadership: they are answered when it is known who leads next.
 */
import type { CoreState } from './core-state.js';
import { mark } from './coverage-marks.js';
import { TRANSFER_WAITERS_MAX } from './limits.js';
import type { Progress } from './progress.js';
import type { Replication } from './replication.js';
import type { MemberId, TransferResult } from './types.js';

type ErrorCode = NonNullable<TransferResult['error']>['code'];

export class Transfers {
  #target: MemberId | undefined;
  #waiting: number[] = [];
  #startTick = 0;
  /** The target was told in this term: it may be elected at any time, whatever leases say. */
  #toldInTerm = 0;
  #told = false;

  constructor(private readonly state: CoreState) {}

  /** Proposals must wait. */
  get underWay(): boolean {
    return this.#target !== undefined && this.state.activeRole === 'leader';
  }

  get voidsLease(): boolean {
    return this.#toldInTerm === this.state.term;
  }

  request(requestId: number, to: MemberId | undefined, replication: Replication | undefined): void {
    const { state } = this;
    if (!replication) {
      this.#fail(requestId, 'NotLeader', 'this member does not lead');
      return;
    }
    if (to === state.id) {
      state.outbox.transferResults.push({ requestId });
      return;
    }
    const target = to ?? this.#target ?? bestTarget(state, replication)?.id;
    if (target === undefined) {
      this.#fail(requestId, 'TargetLags', 'no other voter answers');
      return;
    }
    const { voters, learners, outgoing } = state.configurations.current;
    if (!voters.some((member) => member.id === target)) {
      const known = [...learners, ...(outgoing ?? [])].some((member) => member.id === target);
      known
        ? this.#fail(requestId, 'NotVoter', `member ${target} is no voter`)
        : this.#fail(requestId, 'UnknownMember', `member ${target} is not in the cluster`);
      return;
    }
    if (this.#target !== undefined && this.#target !== target) {
      this.#failAll('TimedOut', `a transfer to ${target} took its place`);
    }
    if (this.#waiting.length >= TRANSFER_WAITERS_MAX) {
      this.#fail(requestId, 'TimedOut', 'too many callers wait for a transfer');
      return;
    }
    this.#waiting.push(requestId);
    this.#start(target);
  }

  /** Hands over without anybody having asked. */
  begin(target: MemberId): void {
    this.#start(target);
  }

  /** Tells the target as soon as it has everything. */
  flush(replication: Replication): void {
    if (this.#target === undefined || this.#told) return;
    const { state } = this;
    const progress = replication.of(this.#target);
    if (progress?.matchIndex !== state.log.last.index) {
      mark('transferWaitsForTarget');
      return;
    }
    this.#told = true;
    this.#toldInTerm = state.term;
    state.send({ kind: 'timeoutNow', from: state.id, to: this.#target, term: state.term });
  }

  tick(replication: Replication | undefined): void {
    const { state } = this;
    if (this.#target === undefined) return;
    const elapsed = state.tick - this.#startTick;
    if (replication && elapsed >= state.options.electionTicks) {
      const lags = replication.of(this.#target)?.matchIndex !== state.log.last.index;
      this.#failAll(
        lags ? 'TargetLags' : 'TimedOut',
        `member ${this.#target} ${lags ? 'does not have all entries yet' : 'was not elected'}`,
      );
    } else if (elapsed >= 2 * state.options.electionTicks) {
      this.#failAll('TimedOut', 'no new leader is known');
    } else if (elapsed % state.options.heartbeatTicks === 0) {
      // The word to the target may have got lost.
      this.#told = false;
    }
  }

  /** Who leads is news. */
  onLeader(leader: MemberId): void {
    if (this.#target === undefined) return;
    if (leader === this.state.id) {
      this.#failAll('TimedOut', 'this member was elected again');
      return;
    }
    mark('transferDone');
    for (const requestId of this.#waiting) this.state.outbox.transferResults.push({ requestId });
    this.#waiting = [];
    this.#target = undefined;
  }

  #start(target: MemberId): void {
    if (this.#target === target) return;
    mark('transferStarted');
    this.#target = target;
    this.#told = false;
    this.#startTick = this.state.tick;
  }

  #failAll(code: ErrorCode, message: string): void {
    mark('transferTimedOut');
    for (const requestId of this.#waiting) this.#fail(requestId, code, message);
    this.#waiting = [];
    this.#target = undefined;
  }

  #fail(requestId: number, code: ErrorCode, message: string): void {
    this.state.outbox.transferResults.push({ requestId, error: { code, message } });
  }
}

/** The voter that answers and has most of the log; among equals the one with the quickest disk. */
export function bestTarget(state: CoreState, replication: Replication): Progress | undefined {
  let best: Progress | undefined;
  for (const { id } of state.configurations.current.voters) {
    const progress = replication.of(id);
    if (!progress || !replication.isActive(id)) continue;
    if (
      !best ||
      progress.matchIndex > best.matchIndex ||
      (progress.matchIndex === best.matchIndex && progress.diskLatencyMs < best.diskLatencyMs)
    ) {
      best = progress;
    }
  }
  return best;
}
