/**
 * The leader's side of membership: one change at a time, started only when the one before is
 * committed. A joint configuration is left automatically once it is committed, also one that an
 * earlier leader started.
 */

import { encodeConfiguration } from '../configuration/configuration-codec.js';
import { isVoter } from '../configuration/configurations.js';
import { isMajority } from '../configuration/quorum.js';
import { mark } from '../coverage-marks.js';
import { invariant } from '../invariant.js';
import type { Replication } from '../replication/replication.js';
import type { CoreState } from '../state/core-state.js';
import type { Configuration, MembershipChange, MembershipErrorCode } from '../types.js';
import { type ChangeRefusal, leaveJoint, planChange } from './membership.js';

export class MembershipChanges {
  /** Request of the change in progress; undefined when an earlier leader started it. */
  private requestId: number | undefined;

  constructor(
    private readonly state: CoreState,
    private readonly replication: Replication,
  ) {}

  /**
   * `settled`: an entry of this leader's term is committed, and the lead is not being given away.
   */
  request(requestId: number, change: MembershipChange, settled: boolean): void {
    const { state } = this;
    const { configurations } = state;
    const pending =
      configurations.currentIndex > state.commitIndex ||
      configurations.current.outgoing !== undefined;
    if (pending || !settled) {
      const why = pending
        ? 'another membership change is in progress'
        : 'the leadership has just changed or is being transferred';
      refuseChange(state, requestId, 'ChangePending', why);
      return;
    }
    const planned = planChange(configurations.current, change);
    const refusal = planned.refusal ?? this.unsafeReason(change, planned.next);
    if (refusal) {
      refuseChange(state, requestId, refusal.code, refusal.message);
      return;
    }
    if (planned.refusal) return;
    invariant(this.requestId === undefined, 'two membership changes are in progress');
    this.requestId = requestId;
    if (planned.next.outgoing) mark('jointEntered');
    this.append(planned.next);
  }

  /** The commit index moved. */
  onCommitted(): void {
    const { state } = this;
    const { configurations } = state;
    if (configurations.currentIndex > state.commitIndex) return;
    if (configurations.current.outgoing) {
      mark(this.requestId === undefined ? 'jointLeftByNewLeader' : 'jointLeft');
      this.append(leaveJoint(configurations.current));
      return;
    }
    if (this.requestId === undefined) return;
    invariant(state.activeRole === 'leader', 'a replica that does not lead completes a change');
    state.outbox.membershipResults.push({ requestId: this.requestId });
    this.requestId = undefined;
  }

  onLeadershipLost(): void {
    if (this.requestId === undefined) return;
    refuseChange(
      this.state,
      this.requestId,
      'OutcomeUnknown',
      'the leadership was lost while the change was in progress',
    );
    this.requestId = undefined;
  }

  private append(configuration: Configuration): void {
    const { current } = this.state.configurations;
    invariant(
      !current.outgoing || !configuration.outgoing,
      'joint configurations follow each other',
    );
    invariant(configuration.voters.length > 0, 'a configuration has no voters');
    this.state.appendOwn('configuration', encodeConfiguration(configuration));
    invariant(
      this.state.configurations.current !== current,
      'an appended configuration is not in effect',
    );
    this.replication.reconfigure();
  }

  private unsafeReason(change: MembershipChange, next: Configuration): ChangeRefusal | undefined {
    const { state, replication } = this;
    if (change.kind === 'promote') {
      const learner = replication.of(change.id);
      // A learner that is inactive, or waits for a snapshot, does not follow the log, whatever its
      // match index.
      if (!replication.isActive(change.id) || learner?.state !== 'replicate') {
        return { code: 'LearnerLags', message: `member ${change.id} does not follow the log yet` };
      }
      const lag = state.log.last.index - learner.matchIndex;
      if (lag > state.options.promoteLagMax) {
        const message = `member ${change.id} is ${lag} entries behind, at most ${state.options.promoteLagMax} are allowed`;
        return { code: 'LearnerLags', message };
      }
    }
    if (!next.outgoing) return undefined;
    if (isMajority(next.voters, replication.isActive)) return undefined;
    const answering = next.voters.filter((member) => replication.isActive(member.id)).length;
    const message = `only ${answering} of the ${next.voters.length} remaining voters are active`;
    return { code: 'WouldLoseQuorum', message };
  }
}

/** Reports to the caller that a change was not started, or that its outcome is unknown. */
export function refuseChange(
  state: CoreState,
  requestId: number,
  code: MembershipErrorCode,
  message: string,
): void {
  mark('changeRefused');
  state.outbox.membershipResults.push({ requestId, error: { code, message } });
}

/** A leader that is in no half of a committed configuration leads no longer. */
export function isRemovedLeader(state: CoreState): boolean {
  const { configurations } = state;
  return (
    configurations.currentIndex <= state.commitIndex && !isVoter(configurations.current, state.id)
  );
}
