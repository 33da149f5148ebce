/**
 * Routes messages of other replicas. Compares terms first, because every message of a later term
 * ends the own one (except votes, see `Elections`), then passes each to the part that handles it.
 */
import { isMember } from './configuration/configurations.js';
import { mark } from './coverage-marks.js';
import { invariant } from './invariant.js';
import type { Message } from './messages.js';
import type { ForwardedReads } from './reads/forwarded-reads.js';
import { respondToRead } from './reads/read-rounds.js';
import type { Follower } from './replication/follower.js';
import { refuseCommands } from './replication/proposals.js';
import type { Roles } from './roles.js';
import type { CoreState } from './state/core-state.js';
import type { MemberId } from './types.js';

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
    if (message.term > state.term && !this.enterTerm(message)) return;
    if (message.term < state.term && !isTermFree(message)) {
      this.onOutdated(message);
      return;
    }
    const { term } = state;
    this.dispatch(message);
    invariant(state.term >= term, 'a message lowers the term');
  }

  /**
   * Handles the term of a message of a later term. False: the message needs no further handling.
   */
  private enterTerm(message: Message): boolean {
    const { state, roles } = this;
    invariant(message.term > state.term, 'a replica enters an earlier term');
    if (message.kind === 'voteRequest') {
      if (roles.elections.isDisturbing(message)) {
        mark('voteIgnoredLeaderAlive');
        return false;
      }
      if (message.preVote) return true;
    }
    // A granted pre-vote carries the requested term, which no replica has entered yet.
    if (message.kind === 'voteResponse' && message.preVote && message.granted) return true;
    const fromLeader = isFromLeader(message);
    if (!fromLeader && message.kind !== 'voteRequest' && !this.isKnown(message.from)) {
      // A removed member must not depose the leader. Leaders and candidates may be newer than this
      // log.
      mark('strangerIgnored');
      return false;
    }
    mark('newerTermFollowed');
    roles.becomeFollower(message.term, fromLeader ? message.from : undefined);
    return message.term === state.term;
  }

  private isKnown(id: MemberId): boolean {
    return isMember(this.state.configurations.current, id);
  }

  /** A message of an earlier term: the response carries the current one. */
  private onOutdated(message: Message): void {
    const { state } = this;
    invariant(message.term < state.term, 'a message of the present term is outdated');
    if (message.kind === 'appendRequest' || message.kind === 'heartbeatRequest') {
      mark('staleLeaderTold');
      this.follower.rejectStaleLeader(message.from);
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

  private dispatch(message: Message): void {
    const { state, roles } = this;
    invariant(
      message.term >= state.term || isTermFree(message),
      'a message of an earlier term is handled',
    );
    switch (message.kind) {
      case 'voteRequest':
        roles.elections.onVoteRequest(message);
        return;
      case 'voteResponse':
        roles.elections.onVoteResponse(message);
        return;
      case 'appendRequest':
        roles.followLeader(message.from);
        this.follower.onAppend(message);
        return;
      case 'heartbeatRequest':
        roles.followLeader(message.from);
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
        respondToRead(state, reader, undefined);
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

/** Requests and responses that mean the same in any term. */
function isTermFree(message: Message): boolean {
  return (
    message.kind === 'readIndexRequest' ||
    message.kind === 'readIndexResponse' ||
    message.kind === 'proposeRequest' ||
    message.kind === 'proposeRefusal'
  );
}
