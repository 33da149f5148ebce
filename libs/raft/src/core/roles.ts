/**
 * Which role this replica plays, and what changes with it: who waits for a leader that is lost is told,
 * timers begin anew. `Leader` exists only while leading, so that nothing of one term is left in the next.
 */
import type { CoreState } from './core-state.js';
import { Elections, type RoleChanges } from './elections.js';
import type { ForwardedReads } from './forwarded-reads.js';
import { Leader } from './leader.js';
import type { Transfers } from './transfers.js';
import type { MemberId, Term } from './types.js';

export class Roles implements RoleChanges {
  readonly elections: Elections;
  #leader: Leader | undefined;

  constructor(
    private readonly state: CoreState,
    private readonly transfers: Transfers,
    private readonly forwardedReads: ForwardedReads,
  ) {
    this.elections = new Elections(state, this);
  }

  /** Undefined: this replica does not lead. */
  get leader(): Leader | undefined {
    return this.#leader;
  }

  /** A message of the leader of the current term has come. */
  hearLeader(leader: MemberId): void {
    const { state } = this;
    if (state.activeRole !== 'follower' || state.leader !== leader) {
      this.becomeFollower(state.term, leader);
    }
    state.electionElapsed = 0;
  }

  becomeFollower(term: Term, leader: MemberId | undefined): void {
    const { state } = this;
    if (term > state.term) state.raiseTerm(term);
    if (leader !== undefined) state.noteLeader(leader);
    const lost = this.#leader;
    this.#leader = undefined;
    const before = state.leader;
    state.activeRole = 'follower';
    state.leader = leader;
    this.elections.resetTimer();
    lost?.onLeadLost();
    if (leader !== before) this.forwardedReads.loseAll();
    if (leader !== undefined) this.transfers.onLeader(leader);
  }

  becomeLeader(): void {
    const { state } = this;
    state.noteLeader(state.id);
    state.activeRole = 'leader';
    state.leader = state.id;
    this.forwardedReads.loseAll();
    this.transfers.onLeader(state.id);
    this.#leader = new Leader(state, this.transfers, this);
  }
}
