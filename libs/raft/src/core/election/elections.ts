/**
 * Elections. A replica that misses its leader first requests pre-votes, so that a candidate that
 * cannot win disturbs no other replica. For the same reason a replica that has just started, or
 * whose connection to the leader broke, need not wait a whole timeout before its first attempt.
 * Votes are rejected while a leader is active, except when that leader requested the election. A
 * vote, also the own one, counts only once it is durable.
 *
 * A vote is granted to candidates that this replica's configuration does not (yet) list: its log
 * may lag behind the entry that added them, and without its vote they could be stuck. That is safe,
 * because a candidate counts majorities of the configuration in its own log, which must be as new
 * as the voter's. Votes of non-members do not count.
 */
import { nextTerm } from '../brands.js';
import { isVoter, memberIds } from '../configuration/configurations.js';
import { voteOutcome } from '../configuration/quorum.js';
import { mark } from '../coverage-marks.js';
import { invariant } from '../invariant.js';
import { earlyElectionDivisor, needsSnapshotElectionFactor } from '../limits.js';
import type { TimeoutNow, VoteRequest, VoteResponse } from '../messages.js';
import type { CoreState } from '../state/core-state.js';
import type { MemberId, Term } from '../types.js';

/** Changes of role, which concern more than elections. */
export interface RoleChanges {
  becomeFollower(term: Term, leader: MemberId | undefined): void;
  becomeLeader(): void;
}

export class Elections {
  private readonly votes = new Map<MemberId, boolean>();
  private timeoutTicks = 0;
  /**
   * The elapsed ticks at which the first pre-vote after a start or the loss of a leader begins;
   * undefined once a message has arrived.
   */
  private earlyTicks: number | undefined;

  constructor(
    private readonly state: CoreState,
    private readonly roles: RoleChanges,
  ) {
    this.resetTimer();
    this.earlyTicks = this.drawEarly();
  }

  /** Waits a whole, newly drawn timeout from now on. */
  resetTimer(): void {
    const { electionTicks } = this.state.options;
    this.state.electionElapsed = 0;
    this.timeoutTicks = electionTicks + this.draw(electionTicks);
    invariant(
      this.timeoutTicks >= electionTicks && this.timeoutTicks < 2 * electionTicks,
      'an election timeout is outside of its range',
    );
    this.earlyTicks = undefined;
  }

  /** Waits a whole timeout for the leader, or for the candidate that got the vote. */
  restartTimer(): void {
    this.state.electionElapsed = 0;
    this.state.lostLeader = undefined;
    this.earlyTicks = undefined;
  }

  /**
   * The connection to a peer broke, or none could be opened. A leader whose process ended is
   * replaced without waiting for the election timeout; one that only this replica cannot reach
   * stays, because the others reject the pre-vote. Each failure to reconnect permits one more
   * attempt. A heartbeat that is in flight, or arrives on the leader's own connection, comes
   * before the attempt.
   */
  onDisconnected(peer: MemberId): void {
    const { state } = this;
    if (peer !== state.leader && peer !== state.lostLeader) return;
    // A lease lasts although the leader is not connected: votes wait until it has ended.
    if (state.options.leaseReads || state.activeRole === 'leader') return;
    mark('leaderLost');
    state.lostLeader = peer;
    const { heartbeatTicks } = state.options;
    this.earlyTicks ??= state.electionElapsed + heartbeatTicks + this.draw(heartbeatTicks + 1);
  }

  /** Ticks up to the next attempt. */
  get ticksUntilDue(): number {
    const { electionElapsed, isSoleQuorum, options, promotable } = this.state;
    if (!promotable) return options.electionTicks;
    if (isSoleQuorum) return 1;
    const timeoutTicks = this.timeoutTicks * this.patience;
    return Math.max(1, Math.min(timeoutTicks, this.earlyTicks ?? timeoutTicks) - electionElapsed);
  }

  tick(): void {
    const { state } = this;
    invariant(state.activeRole !== 'leader', 'a leader waits for an election');
    state.electionElapsed += 1;
    if (!state.promotable) return;
    if (state.isSoleQuorum) {
      if (state.activeRole === 'candidate') return;
      mark('electionSoleVoter');
      this.startVote(false);
    } else if (state.electionElapsed >= this.timeoutTicks * this.patience) {
      this.resetTimer();
      this.startPreVote();
    } else if (this.earlyTicks !== undefined && state.electionElapsed >= this.earlyTicks) {
      // If this attempt fails, the next one follows after a full timeout.
      this.earlyTicks = undefined;
      if (state.needsSnapshot) return;
      mark('electionEarly');
      this.startPreVote();
    }
  }

  /**
   * None with leases: one may count on an acknowledgement that this process gave before it was
   * restarted, and this replica's vote must not come earlier than the whole timeout.
   */
  private drawEarly(): number | undefined {
    const { electionTicks, leaseReads } = this.state.options;
    if (leaseReads) return undefined;
    const part = Math.ceil(electionTicks / earlyElectionDivisor);
    return part + this.draw(2 * part);
  }

  /** A number of ticks from [0, bound). */
  private draw(bound: number): number {
    const drawn = Math.floor(this.state.options.random() * bound);
    invariant(drawn >= 0 && drawn < bound, 'the source of randomness is not in [0, 1)');
    return drawn;
  }

  /**
   * Without a usable state this replica leads only when no other can: it may be the only one with
   * all entries.
   */
  private get patience(): number {
    return this.state.needsSnapshot ? needsSnapshotElectionFactor : 1;
  }

  /** A write is durable: it may hold the own vote. */
  onWritten(): void {
    const { state } = this;
    if (state.activeRole !== 'candidate' || this.votes.has(state.id)) return;
    if (!state.writes.hardStateStable) return;
    this.votes.set(state.id, true);
    this.decide();
  }

  /** Whether to ignore the request because a leader may be active. */
  isDisturbing(message: VoteRequest): boolean {
    const { state } = this;
    if (message.transfer || message.term <= state.term) return false;
    // A lease counts on acknowledgements that this process may have given before it was restarted.
    const mayHaveAcknowledged =
      state.options.leaseReads && state.tick < state.options.electionTicks && !state.isSoleQuorum;
    return state.hasActiveLeader || mayHaveAcknowledged;
  }

  onVoteRequest(message: VoteRequest): void {
    const { state } = this;
    invariant(message.term >= state.term, 'a candidate of an earlier term is considered');
    invariant(message.preVote || message.term === state.term, 'a vote is for another term');
    const free =
      state.votedFor === message.from ||
      (state.votedFor === undefined && state.leader === undefined) ||
      (message.preVote && message.term > state.term);
    const granted = free && state.log.isUpToDate(message.lastIndex, message.lastTerm);
    const response = {
      kind: 'voteResponse',
      from: state.id,
      to: message.from,
      preVote: message.preVote,
      granted,
    } as const;
    if (granted && message.preVote) {
      mark('preVoteGranted');
      state.send({ ...response, term: message.term });
      return;
    }
    if (granted) {
      mark('voteGranted');
      state.vote(message.from);
      invariant(state.votedFor === message.from, 'a granted vote is not recorded');
      this.restartTimer();
    } else mark('voteRefused');
    state.sendDurable({ ...response, term: state.term });
  }

  onVoteResponse(message: VoteResponse): void {
    const { state } = this;
    const asked = message.preVote ? 'preCandidate' : 'candidate';
    if (state.activeRole !== asked || !isVoter(state.configurations.current, message.from)) return;
    if (message.preVote && message.granted && message.term !== state.term + 1) return;
    if (this.votes.has(message.from)) return;
    this.votes.set(message.from, message.granted);
    this.decide();
  }

  onTimeoutNow(message: TimeoutNow): void {
    const { state } = this;
    if (!state.promotable || state.needsSnapshot || message.from !== state.leader) return;
    invariant(message.term === state.term, 'a transfer is of another term');
    mark('electionTransfer');
    this.startVote(true);
  }

  private startPreVote(): void {
    const { state } = this;
    invariant(state.promotable, 'a replica that may not campaign starts a pre-vote');
    invariant(state.activeRole !== 'leader', 'a leader campaigns');
    mark('electionPreVote');
    state.activeRole = 'preCandidate';
    state.leader = undefined;
    this.votes.clear();
    this.votes.set(state.id, true);
    this.request(true, nextTerm(state.term), false);
    this.decide();
  }

  private startVote(transfer: boolean): void {
    const { state } = this;
    invariant(state.promotable, 'a replica that may not campaign starts an election');
    invariant(state.activeRole !== 'leader', 'a leader campaigns');
    mark('electionVote');
    state.raiseTerm(nextTerm(state.term));
    state.vote(state.id);
    invariant(state.votedFor === state.id, 'a candidate has voted for another');
    state.activeRole = 'candidate';
    state.leader = undefined;
    this.resetTimer();
    this.votes.clear();
    this.request(false, state.term, transfer);
  }

  private request(preVote: boolean, term: Term, transfer: boolean): void {
    const { state } = this;
    const { index, term: lastTerm } = state.log.last;
    invariant(
      term === (preVote ? nextTerm(state.term) : state.term),
      'a candidate requests votes for another term',
    );
    for (const id of memberIds(state.configurations.current)) {
      if (id === state.id || !isVoter(state.configurations.current, id)) continue;
      const request: VoteRequest = {
        kind: 'voteRequest',
        from: state.id,
        to: id,
        term,
        preVote,
        lastIndex: index,
        lastTerm,
        transfer,
      };
      if (preVote) state.send(request);
      else state.sendDurable(request, index);
    }
  }

  private decide(): void {
    const { state } = this;
    invariant(
      state.activeRole === 'candidate' || state.activeRole === 'preCandidate',
      'votes are counted without an election',
    );
    invariant(
      this.votes.size <= memberIds(state.configurations.current).size,
      'more votes than members are counted',
    );
    const outcome = voteOutcome(state.configurations.current, this.votes);
    if (outcome === 'open') return;
    if (outcome === 'lost') {
      mark('electionLost');
      this.roles.becomeFollower(state.term, undefined);
    } else if (state.activeRole === 'preCandidate') this.startVote(false);
    else {
      mark('electionWon');
      this.roles.becomeLeader();
    }
  }
}
