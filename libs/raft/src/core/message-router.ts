/**
 * Takes messages of other replicas: compares terms first, as every message of a later term ends the own
 * one (votes apart, see `Elections`), then hands each to the part that it concerns.
 */
import { isMember } from './configurations.js';
import type { CoreState } from './core-state.js';
import { mark } from './coverage-marks.js';
import type { Follower } from './follower.js';
import type { ForwardedReads } from './forwarded-reads.js';
import { refuseCommands } from './proposals.js';
import { answerRead } from './read-rounds.js';
import type { Roles } from './roles.js';
import type { MemberId, Message } from './types.js';

export class MessageRouter {
  constructor(
    private readonly state: CoreState,
    private readonly roles: Roles,
    private readonly follower: Follower,
    private readonly forwardedReads: ForwardedReads,
  ) {}

  /** A message of another replica; of any age, any number of times, in any order. */
  step(message: Message): void {
    const { state } = this;
    if (message.to !== state.id || message.from === state.id) {
      mark('misdirectedIgnored');
      return;
    }
    if (!state.admitted) {
      mark('notAdmittedIgnored');
      return;
    }
    if (message.term > state.term && !this.#enterTerm(message)) return;
    if (message.term < state.term && !isTermFree(message)) {
      this.#onOutdated(message);
      return;
    }
    this.#dispatch(message);
  }

  /** A message of a later term. False: it is of no more concern. */
  #enterTerm(message: Message): boolean {
    const { state, roles } = this;
    if (message.kind === 'voteRequest') {
      if (roles.elections.isDisturbing(message)) {
        mark('voteIgnoredLeaderAlive');
        return false;
      }
      if (message.preVote) return true;
    }
    // A granted pre-vote carries the term that was asked for, which nobody has entered yet.
    if (message.kind === 'voteResponse' && message.preVote && message.granted) return true;
    const fromLeader = isFromLeader(message);
    if (!fromLeader && message.kind !== 'voteRequest' && !this.#isKnown(message.from)) {
      // Whoever was removed deposes nobody. Leaders and candidates may be newer than this log.
      mark('strangerIgnored');
      return false;
    }
    mark('newerTermFollowed');
    roles.becomeFollower(message.term, fromLeader ? message.from : undefined);
    return message.term === state.term;
  }

  #isKnown(id: MemberId): boolean {
    return isMember(this.state.configurations.current, id);
  }

  /** A message of an earlier term: its sender may be stuck there, and must learn of this one. */
  #onOutdated(message: Message): void {
    const { state } = this;
    if (message.kind === 'appendRequest' || message.kind === 'heartbeatRequest') {
      mark('staleLeaderTold');
      this.follower.tellTerm(message.from);
    } else if (message.kind === 'voteRequest' && message.preVote) {
      mark('preVoteRefusedOutdatedTerm');
      state.sendDurable({
        kind: 'voteResponse',
        from: state.id,
        to: message.from,
        term: state.term,
        preVote: true,
        granted: false,
      });
    } else mark('staleMessageIgnored');
  }

  #dispatch(message: Message): void {
    const { state, roles } = this;
    switch (message.kind) {
      case 'voteRequest':
        roles.elections.onVoteRequest(message);
        return;
      case 'voteResponse':
        roles.elections.onVoteResponse(message);
        return;
      case 'appendRequest':
        roles.hearLeader(message.from);
        this.follower.onAppend(message);
        return;
      case 'heartbeatRequest':
        roles.hearLeader(message.from);
        this.follower.onHeartbeat(message);
        return;
      case 'appendResponse':
        roles.leader?.onAppendResponse(message);
        return;
      case 'heartbeatResponse':
        roles.leader?.onHeartbeatResponse(message);
        return;
      case 'readIndexRequest': {
        const reader = { context: message.context, from: message.from };
        if (roles.leader) {
          roles.leader.read(reader);
          return;
        }
        mark('readRefused');
        answerRead(state, reader, undefined);
        return;
      }
      case 'readIndexResponse':
        this.forwardedReads.onResponse(message);
        return;
      case 'proposeRequest':
        if (roles.leader) {
          roles.leader.propose(message.commands, message.from);
          return;
        }
        mark('proposalNoLeader');
        refuseCommands(state, message.commands, message.from, 'NoLeader');
        return;
      case 'proposeRefusal':
        state.outbox.refuse(message.ids, message.code);
        return;
      case 'timeoutNow':
        roles.elections.onTimeoutNow(message);
        return;
    }
  }
}

/** Only the leader of its term sends these. */
function isFromLeader(message: Message): boolean {
  return (
    message.kind === 'appendRequest' ||
    message.kind === 'heartbeatRequest' ||
    message.kind === 'timeoutNow'
  );
}

/** Questions and their answers that mean the same in any term. */
function isTermFree(message: Message): boolean {
  return (
    message.kind === 'readIndexRequest' ||
    message.kind === 'readIndexResponse' ||
    message.kind === 'proposeRequest' ||
    message.kind === 'proposeRefusal'
  );
}
