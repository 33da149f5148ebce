/**
 * Leadership transfer: brings the target up to date, then lets it campaign immediately. Proposals
 * are refused meanwhile. If the target is not elected within an election timeout, this leader
 * continues. Requests outlive the leadership: they end when the next leader is known.
 */

import { isVoter } from '../configuration/configurations.js';
import { mark } from '../coverage-marks.js';
import { invariant } from '../invariant.js';
import { transferWaitersMax } from '../limits.js';
import type { TransferResult } from '../output.js';
import type { Progress } from '../replication/progress.js';
import type { Replication } from '../replication/replication.js';
import type { CoreState } from '../state/core-state.js';
import type { MemberId } from '../types.js';

type ErrorCode = NonNullable<TransferResult['error']>['code'];

export class Transfers {
  private target: MemberId | undefined;
  private waiting: number[] = [];
  private startTick = 0;
  /**
   * timeoutNow was sent in this term: the target may be elected at any time, in spite of leases.
   */
  private timeoutNowTerm = 0;
  private timeoutNowSent = false;

  constructor(private readonly state: CoreState) {}

  /** Proposals must wait. */
  get inProgress(): boolean {
    return this.target !== undefined && this.state.activeRole === 'leader';
  }

  /** Whether a transfer from or to this replica is not over. */
  get isWaiting(): boolean {
    return this.target !== undefined;
  }

  get voidsLease(): boolean {
    return this.timeoutNowTerm === this.state.term;
  }

  request(requestId: number, to: MemberId | undefined, replication: Replication | undefined): void {
    const { state } = this;
    if (!replication) {
      this.fail(requestId, 'NotLeader', 'this member does not lead');
      return;
    }
    if (to === state.id) {
      state.outbox.transferResults.push({ requestId });
      return;
    }
    const target = to ?? this.target ?? bestTransferTarget(state, replication)?.id;
    if (target === undefined) {
      this.fail(requestId, 'TargetLags', 'no other voter is active');
      return;
    }
    const { voters, learners, outgoing } = state.configurations.current;
    if (!voters.some((member) => member.id === target)) {
      const known = [...learners, ...(outgoing ?? [])].some((member) => member.id === target);
      known
        ? this.fail(requestId, 'NotVoter', `member ${target} is no voter`)
        : this.fail(requestId, 'UnknownMember', `member ${target} is not in the cluster`);
      return;
    }
    if (this.target !== undefined && this.target !== target) {
      this.failAll('TimedOut', `a transfer to ${target} took its place`);
    }
    if (this.waiting.length >= transferWaitersMax) {
      this.fail(requestId, 'TimedOut', 'too many callers wait for a transfer');
      return;
    }
    this.waiting.push(requestId);
    this.start(target);
    invariant(this.target === target, 'a caller waits for another transfer');
  }

  /** Starts a transfer without a request. */
  begin(target: MemberId): void {
    this.start(target);
  }

  /** Sends timeoutNow as soon as the target has all entries. */
  flush(replication: Replication): void {
    if (this.target === undefined || this.timeoutNowSent) return;
    const { state } = this;
    invariant(state.activeRole === 'leader', 'a replica that does not lead transfers leadership');
    const progress = replication.of(this.target);
    if (progress?.matchIndex !== state.log.last.index) {
      mark('transferWaitsForTarget');
      return;
    }
    this.timeoutNowSent = true;
    this.timeoutNowTerm = state.term;
    state.send({ kind: 'timeoutNow', from: state.id, to: this.target, term: state.term });
  }

  tick(replication: Replication | undefined): void {
    const { state } = this;
    if (this.target === undefined) return;
    const elapsed = state.tick - this.startTick;
    invariant(elapsed >= 0, 'a transfer starts in the future');
    if (replication && elapsed >= state.options.electionTicks) {
      const lags = replication.of(this.target)?.matchIndex !== state.log.last.index;
      this.failAll(
        lags ? 'TargetLags' : 'TimedOut',
        `member ${this.target} ${lags ? 'does not have all entries yet' : 'was not elected'}`,
      );
    } else if (elapsed >= 2 * state.options.electionTicks) {
      this.failAll('TimedOut', 'no new leader is known');
    } else if (elapsed % state.options.heartbeatTicks === 0) {
      // timeoutNow may have been lost.
      this.timeoutNowSent = false;
    }
  }

  /** The leader changed. */
  onLeader(leader: MemberId): void {
    if (this.target === undefined) return;
    if (leader === this.state.id) {
      this.failAll('TimedOut', 'this member was elected again');
      return;
    }
    mark('transferDone');
    for (const requestId of this.waiting) this.state.outbox.transferResults.push({ requestId });
    this.waiting = [];
    this.target = undefined;
  }

  private start(target: MemberId): void {
    if (this.target === target) return;
    invariant(target !== this.state.id, 'a leader transfers the leadership to itself');
    invariant(
      isVoter(this.state.configurations.current, target),
      'the leadership is transferred to a member that is no voter',
    );
    mark('transferStarted');
    this.target = target;
    this.timeoutNowSent = false;
    this.startTick = this.state.tick;
  }

  private failAll(code: ErrorCode, message: string): void {
    invariant(this.target !== undefined, 'a transfer fails that was not started');
    mark('transferTimedOut');
    for (const requestId of this.waiting) this.fail(requestId, code, message);
    this.waiting = [];
    this.target = undefined;
  }

  private fail(requestId: number, code: ErrorCode, message: string): void {
    this.state.outbox.transferResults.push({ requestId, error: { code, message } });
  }
}

/** The active voter with the longest log; among equals the one with the fastest disk. */
export function bestTransferTarget(
  state: CoreState,
  replication: Replication,
): Progress | undefined {
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
