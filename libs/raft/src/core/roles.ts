/**
 * The role of this replica, and everything that changes with it: callers that wait for a lost
 * leader are notified, timers restart. `Leader` exists only while leading, so that no state of one
 * term survives into the next.
 */

import { Elections, type RoleChanges } from './election/elections.js';
import { invariant } from './invariant.js';
import { Leader } from './leader.js';
import type { ForwardedReads } from './reads/forwarded-reads.js';
import type { CoreState } from './state/core-state.js';
import type { Transfers } from './transfer/transfers.js';
import type { MemberId, Term } from './types.js';

export class Roles implements RoleChanges {
  readonly elections: Elections;
  private currentLeader: Leader | undefined;

  constructor(
    private readonly state: CoreState,
    private readonly transfers: Transfers,
    private readonly forwardedReads: ForwardedReads,
  ) {
    this.elections = new Elections(state, this);
  }

  /** Undefined: this replica does not lead. */
  get leader(): Leader | undefined {
    return this.currentLeader;
  }

  /** Handles the sender of a message as the leader of the current term. */
  followLeader(leader: MemberId): void {
    const { state } = this;
    if (state.activeRole !== 'follower' || state.leader !== leader) {
      this.becomeFollower(state.term, leader);
    }
    this.elections.restartTimer();
  }

  becomeFollower(term: Term, leader: MemberId | undefined): void {
    const { state } = this;
    invariant(term >= state.term, 'a replica follows a leader of an earlier term');
    invariant(leader !== state.id, 'a replica follows itself');
    if (term > state.term) state.raiseTerm(term);
    invariant(state.term === term, 'a follower is in another term than its leader');
    if (leader !== undefined) state.recordLeader(leader);
    const lost = this.currentLeader;
    this.currentLeader = undefined;
    const before = state.leader;
    state.activeRole = 'follower';
    state.leader = leader;
    this.elections.resetTimer();
    lost?.onLeadershipLost();
    if (leader !== before) this.forwardedReads.expireAll();
    if (leader !== undefined) this.transfers.onLeader(leader);
  }

  becomeLeader(): void {
    const { state } = this;
    invariant(state.activeRole === 'candidate', 'a replica leads without having campaigned');
    invariant(state.votedFor === state.id, 'a leader has voted for another');
    invariant(this.currentLeader === undefined, 'a leader is elected in its own term');
    state.recordLeader(state.id);
    state.activeRole = 'leader';
    state.leader = state.id;
    state.lostLeader = undefined;
    this.forwardedReads.expireAll();
    this.transfers.onLeader(state.id);
    this.currentLeader = new Leader(state, this.transfers, this);
  }
}
