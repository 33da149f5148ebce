/**
 * Messages between replicas. The transport encodes them; the core reads and creates them as plain
 * data.
 */
import type { Entry, LogIndex, LogPoint, MemberId, Term } from './types.js';

interface Envelope {
  readonly from: MemberId;
  readonly to: MemberId;
  /** The sender's term; the requested term in a pre-vote request and in a granted pre-vote. */
  readonly term: Term;
}

export type VoteRequest = Envelope & {
  readonly kind: 'voteRequest';
  /** Requests only the intention to vote: neither side changes its term. */
  readonly preVote: boolean;
  readonly lastIndex: LogIndex;
  readonly lastTerm: Term;
  /** The leader requested this election: an active leader is no reason to reject it. */
  readonly transfer: boolean;
};

export type VoteResponse = Envelope & {
  readonly kind: 'voteResponse';
  readonly preVote: boolean;
  readonly granted: boolean;
};

export type AppendRequest = Envelope & {
  readonly kind: 'appendRequest';
  /** The entry before the first of `entries`. */
  readonly previous: LogPoint;
  readonly entries: readonly Entry[];
  readonly commitIndex: LogIndex;
  /** Only the commit index is new: the receiver responds only to reject it. */
  readonly notice: boolean;
};

export type AppendResponse = Envelope & {
  readonly kind: 'appendResponse';
  /** The log is as the leader's up to `matchIndex`, and durable up to there. */
  readonly accepted: boolean;
  readonly matchIndex: LogIndex;
  /** Refused: `previous.index` of the request. */
  readonly refusedIndex: LogIndex;
  /** Refused: the highest point of this log that may agree (skips a whole term at a time). */
  readonly hintIndex: LogIndex;
  readonly hintTerm: Term;
  /** This replica has no usable state: a snapshot must come before entries. */
  readonly needsSnapshot: boolean;
  /** Up to where the sender has applied. */
  readonly appliedIndex: LogIndex;
};

/** `context` names one round of the leader in its term; 0: no round. Never used twice. */
export type HeartbeatRequest = Envelope & {
  readonly kind: 'heartbeatRequest';
  readonly commitIndex: LogIndex;
  readonly context: number;
};

export type HeartbeatResponse = Envelope & {
  readonly kind: 'heartbeatResponse';
  readonly context: number;
  readonly appliedIndex: LogIndex;
  /**
   * p99 of this replica's synced writes, 0 before any was measured: a leader with a slow disk hands
   * over to a quicker one.
   */
  readonly diskLatencyMs: number;
};

/** From a follower or learner; `context` is the asker's own and never used twice. */
export type ReadIndexRequest = Envelope & {
  readonly kind: 'readIndexRequest';
  readonly context: number;
};

export type ReadIndexResponse = Envelope & {
  readonly kind: 'readIndexResponse';
  readonly context: number;
  /** Undefined: the receiver is not (or no longer) the leader. */
  readonly index: LogIndex | undefined;
};

export interface ForwardedCommand {
  /** The proposer's number for it, unique in its process life. */
  readonly id: number;
  readonly data: Buffer;
}

/** Commands of a follower or learner for the leader's log. */
export type ProposeRequest = Envelope & {
  readonly kind: 'proposeRequest';
  readonly commands: readonly ForwardedCommand[];
};

/** None of these was appended. */
export type ProposeRefusal = Envelope & {
  readonly kind: 'proposeRefusal';
  readonly ids: readonly number[];
  readonly code: RefusalCode;
};

/** Sent by the leader: campaign immediately. */
export type TimeoutNow = Envelope & { readonly kind: 'timeoutNow' };

/** All that goes over a stream between two replicas; snapshots have a stream of their own. */
export type Message =
  | VoteRequest
  | VoteResponse
  | AppendRequest
  | AppendResponse
  | HeartbeatRequest
  | HeartbeatResponse
  | ReadIndexRequest
  | ReadIndexResponse
  | ProposeRequest
  | ProposeRefusal
  | TimeoutNow;

/** Why a command was not appended. Certain, so that the proposer may safely retry. */
export type RefusalCode =
  /** No leader is known, or the receiver is not the leader. */
  | 'NoLeader'
  /** The leadership is being transferred: retry in a moment. */
  | 'Transferring'
  /** Too much is uncommitted. */
  | 'QueueFull'
  | 'TooLarge';
