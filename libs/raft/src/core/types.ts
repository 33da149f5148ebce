/**
 * What goes into and out of the pure core: entries, messages between replicas, storage requests and
 * everything else that a step leaves for the shell to do. Plain data only; no promises, no clocks.
 */

/** Position of an entry in the log; the first entry has index 1. */
export type LogIndex = number & { readonly __brand: 'LogIndex' };

/** 16 hexadecimal digits. */
export type MemberId = string & { readonly __brand: 'MemberId' };

export type Term = number & { readonly __brand: 'Term' };

export interface Member {
  readonly id: MemberId;
  /** Unique within the cluster. */
  readonly name: string;
  /** `https://host:port` at which other replicas reach it. */
  readonly peerUrl: string;
  /** `https://host:port` of its API; empty until the member has reported it. */
  readonly clientUrl: string;
}

/**
 * The members. `outgoing` is set while the configuration is joint: then both `voters` and
 * `outgoing` must have a majority for every decision. A configuration is in effect as soon as it is
 * in the log.
 */
export interface Configuration {
  readonly voters: readonly Member[];
  /** Receive everything, count for nothing. */
  readonly learners: readonly Member[];
  /** The voters that are being left behind. */
  readonly outgoing?: readonly Member[];
}

/**
 * `command`: opaque to the log. `configuration`: `data` is an encoded `Configuration`. `empty`: the
 * first entry of a leader's term. Configuration and empty entries are delivered with an empty
 * command.
 */
export type EntryKind = 'command' | 'configuration' | 'empty';

export interface Entry {
  readonly index: LogIndex;
  readonly term: Term;
  readonly kind: EntryKind;
  readonly data: Buffer;
  /** CRC32C over the checksum of the entry before, then term, index, kind and data. */
  readonly checksum: number;
}

/** What must be on disk before any reply that depends on it. */
export interface HardState {
  readonly term: Term;
  /** Whom this replica voted for in `term`. */
  readonly votedFor: MemberId | undefined;
  /** Known to be committed; may lag, written only along with something else. */
  readonly commitIndex: LogIndex;
}

/**
 * Identifies an entry and, through its checksum, the log up to it: the end of a snapshot, the start
 * of a compacted log.
 */
export interface LogPoint {
  readonly index: LogIndex;
  readonly term: Term;
  /** Checksum of that entry; the checksum of the next one covers it. */
  readonly checksum: number;
}

/** Identifies a snapshot of the state: everything up to `index` applied. */
export interface SnapshotPoint extends LogPoint {
  /** The configuration as of `index`. */
  readonly configuration: Configuration;
}

export type Role = 'leader' | 'candidate' | 'preCandidate' | 'follower' | 'learner' | 'removed';

export type MembershipChange =
  | { readonly kind: 'addLearner'; readonly member: Member }
  | { readonly kind: 'promote'; readonly id: MemberId }
  | { readonly kind: 'remove'; readonly id: MemberId }
  /** New addresses of a member. */
  | { readonly kind: 'update'; readonly member: Member };

export type MembershipErrorCode =
  | 'NotLeader'
  /** Another change is in progress. */
  | 'ChangePending'
  | 'UnknownMember'
  /** Id, name or peer address is taken. */
  | 'DuplicateMember'
  | 'LastVoter'
  /** The learner is not yet close enough to the leader's log. */
  | 'LearnerLags'
  /** The remaining voters have no active majority. */
  | 'WouldLoseQuorum'
  /** The leadership was lost meanwhile: check the members, then retry. */
  | 'OutcomeUnknown';

export interface Leadership {
  readonly term: Term;
  readonly leader: MemberId | undefined;
  readonly role: Role;
}
