/**
 * The leader's side of membership: one change at a time, each begun only when everything before it is
 * settled; a joint configuration is left by itself once it is committed, whoever began it.
 */
import { encodeConfiguration } from './configuration-codec.js';
import { isVoter } from './configurations.js';
import type { CoreState } from './core-state.js';
import { mark } from './coverage-marks.js';
import { type ChangeRefusal, leaveJoint, planChange } from './membership.js';
import { isMajority } from './quorum.js';
import type { Replication } from './replication.js';
import type { Configuration, MembershipChange, MembershipErrorCode } from './types.js';

export class MembershipChanges {
  /** Who waits for the change under way; a new leader finishes one that nobody here waits for. */
  #requestId: number | undefined;

  constructor(
    private readonly state: CoreState,
    private readonly replication: Replication,
  ) {}

  /** `settled`: an entry of this leader's term is committed, and the lead is not being given away. */
  request(requestId: number, change: MembershipChange, settled: boolean): void {
    const { state } = this;
    const { configurations } = state;
    const pending =
      configurations.currentIndex > state.commitIndex ||
      configurations.current.outgoing !== undefined;
    if (pending || !settled) {
      const why = pending
        ? 'another change of members is under way'
        : 'the lead has just changed or is about to';
      refuseChange(state, requestId, 'ChangePending', why);
      return;
    }
    const planned = planChange(configurations.current, change);
    const refusal = planned.refusal ?? this.#unsafe(change, planned.next);
    if (refusal) {
      refuseChange(state, requestId, refusal.code, refusal.message);
      return;
    }
    if (planned.refusal) return;
    this.#requestId = requestId;
    if (planned.next.outgoing) mark('jointEntered');
    this.#append(planned.next);
  }

  /** The commit index moved. */
  onCommitted(): void {
    const { state } = this;
    const { configurations } = state;
    if (configurations.currentIndex > state.commitIndex) return;
    if (configurations.current.outgoing) {
      mark(this.#requestId === undefined ? 'jointLeftByNewLeader' : 'jointLeft');
      this.#append(leaveJoint(configurations.current));
      return;
    }
    if (this.#requestId === undefined) return;
    state.outbox.membershipResults.push({ requestId: this.#requestId });
    this.#requestId = undefined;
  }

  onLeadLost(): void {
    if (this.#requestId === undefined) return;
    refuseChange(
      this.state,
      this.#requestId,
      'OutcomeUnknown',
      'the lead was lost while the change was under way',
    );
    this.#requestId = undefined;
  }

  #append(configuration: Configuration): void {
    this.state.appendOwn('configuration', encodeConfiguration(configuration));
    this.replication.reconfigure();
  }

  #unsafe(change: MembershipChange, next: Configuration): ChangeRefusal | undefined {
    const { state, replication } = this;
    if (change.kind === 'promote') {
      const learner = replication.of(change.id);
      // One that never came, or has yet to get the state, is not near whatever the numbers say.
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
    const message = `only ${answering} of the ${next.voters.length} voters that there would be answer`;
    return { code: 'WouldLoseQuorum', message };
  }
}

/** Tells whoever asked for a change that it was not begun, or that its outcome is unknown. */
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
