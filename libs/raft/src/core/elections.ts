/**
 * Elections. A replica that misses its leader first asks whether it would be voted for (pre-vote), so
 * that one that cannot win disturbs nobody. For the same reason a replica that has just started need not
 * wait a whole timeout before it asks for the first time. Votes are refused while a leader is heard, unless that
 * leader itself asked for the election. A vote, one's own too, counts only once it is durable.
 *
 * A vote is given to candidates that this replica's configuration does not (yet) name: its log may lag
 * behind the entry that added them, and without its vote they could be stuck. That is safe, since a
 * candidate counts majorities of the configuration in its own log, which must be as new as the voter's.
 * Votes of strangers count for nothing.
 */
import { isVoter, memberIds } from './configurations.js';
import type { CoreState } from './core-state.js';
import { mark } from './coverage-marks.js';
import { invariant } from './invariant.js';
import { EARLY_ELECTION_PARTS, NEEDS_SNAPSHOT_PATIENCE } from './limits.js';
import { voteOutcome } from './quorum.js';
import type { MemberId, Term, TimeoutNow, VoteRequest, VoteResponse } from './types.js';

/** Changes of role, which concern more than elections. */
export interface RoleChanges {
  becomeFollower(term: Term, leader: MemberId | undefined): void;
  becomeLeader(): void;
}

export class Elections {
  readonly #votes = new Map<MemberId, boolean>();
  #timeoutTicks = 0;
  /** When it first asks, as long as it hears of nobody; undefined: that is over. */
  #earlyTicks: number | undefined;

  constructor(
    private readonly state: CoreState,
    private readonly roles: RoleChanges,
  ) {
    this.resetTimer();
    this.#earlyTicks = this.#drawEarly();
  }

  /** Waits a whole, newly drawn timeout from now on. */
  resetTimer(): void {
    const { electionTicks } = this.state.options;
    this.state.electionElapsed = 0;
    this.#timeoutTicks = electionTicks + this.#draw(electionTicks);
    this.#earlyTicks = undefined;
  }

  tick(): void {
    const { state } = this;
    state.electionElapsed += 1;
    if (!state.electable) return;
    if (state.isQuorumAlone) {
      if (state.activeRole === 'candidate') return;
      mark('electionSoleVoter');
      this.#startVote(false);
    } else if (state.electionElapsed >= this.#timeoutTicks * this.#patience) {
      this.resetTimer();
      this.#startPreVote();
    } else if (this.#earlyTicks !== undefined && state.electionElapsed >= this.#earlyTicks) {
      // In vain, it asks again when the whole timeout is over.
      this.#earlyTicks = undefined;
      if (state.needsSnapshot) return;
      mark('electionEarly');
      this.#startPreVote();
    }
  }

  /**
   * None with leases: one may count on an acknowledgement that this process gave before it was restarted,
   * and this replica's vote must not come earlier than the whole timeout.
   */
  #drawEarly(): number | undefined {
    const { electionTicks, leaseReads } = this.state.options;
    if (leaseReads) return undefined;
    const part = Math.ceil(electionTicks / EARLY_ELECTION_PARTS);
    return part + this.#draw(2 * part);
  }

  /** A number of ticks from [0, bound). */
  #draw(bound: number): number {
    const drawn = Math.floor(this.state.options.random() * bound);
    invariant(drawn >= 0 && drawn < bound, 'the source of randomness is not in [0, 1)');
    return drawn;
  }

  /** Without a usable state it leads only when nobody else can: perhaps it alone has all entries. */
  get #patience(): number {
    return this.state.needsSnapshot ? NEEDS_SNAPSHOT_PATIENCE : 1;
  }

  /** Something was written: perhaps the own vote. */
  onWritten(): void {
    const { state } = this;
    if (state.activeRole !== 'candidate' || this.#votes.has(state.id)) return;
    if (!state.writes.voteStable) return;
    this.#votes.set(state.id, true);
    this.#decide();
  }

  /** Whether the request must be ignored since a leader may be at work. */
  isDisturbing(message: VoteRequest): boolean {
    const { state } = this;
    if (message.transfer || message.term <= state.term) return false;
    // A lease counts on acknowledgements that this process may have given before it was restarted.
    const mayHaveAcknowledged =
      state.options.leaseReads && state.tick < state.options.electionTicks && !state.isQuorumAlone;
    return state.leaderAlive || mayHaveAcknowledged;
  }

  onVoteRequest(message: VoteRequest): void {
    const { state } = this;
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
      state.electionElapsed = 0;
      this.#earlyTicks = undefined;
    } else mark('voteRefused');
    state.sendDurable({ ...response, term: state.term });
  }

  onVoteResponse(message: VoteResponse): void {
    const { state } = this;
    const asked = message.preVote ? 'preCandidate' : 'candidate';
    if (state.activeRole !== asked || !isVoter(state.configurations.current, message.from)) return;
    if (message.preVote && message.granted && message.term !== state.term + 1) return;
    if (this.#votes.has(message.from)) return;
    this.#votes.set(message.from, message.granted);
    this.#decide();
  }

  onTimeoutNow(message: TimeoutNow): void {
    const { state } = this;
    if (!state.electable || state.needsSnapshot || message.from !== state.leader) return;
    mark('electionTransfer');
    this.#startVote(true);
  }

  #startPreVote(): void {
    const { state } = this;
    mark('electionPreVote');
    state.activeRole = 'preCandidate';
    state.leader = undefined;
    this.#votes.clear();
    this.#votes.set(state.id, true);
    this.#request(true, state.term + 1, false);
    this.#decide();
  }

  #startVote(transfer: boolean): void {
    const { state } = this;
    invariant(state.electable, 'a replica stands for election that may not');
    mark('electionVote');
    state.raiseTerm(state.term + 1);
    state.vote(state.id);
    state.activeRole = 'candidate';
    state.leader = undefined;
    this.resetTimer();
    this.#votes.clear();
    this.#request(false, state.term, transfer);
  }

  #request(preVote: boolean, term: Term, transfer: boolean): void {
    const { state } = this;
    const { index, term: lastTerm } = state.log.last;
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

  #decide(): void {
    const { state } = this;
    const outcome = voteOutcome(state.configurations.current, this.#votes);
    if (outcome === 'open') return;
    if (outcome === 'lost') {
      mark('electionLost');
      this.roles.becomeFollower(state.term, undefined);
    } else if (state.activeRole === 'preCandidate') this.#startVote(false);
    else {
      mark('electionWon');
      this.roles.becomeLeader();
    }
  }
}
