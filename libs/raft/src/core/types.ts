/**
 * What goes into and out of the pure core: entries, messages between replicas, storage requests and
 * everything else that a step leaves for the shell to do. Plain data only; no promises, no clocks.
 */
import type { LogIndex } from '../replicated-log.js';

/** 16 hexadecimal digits. */
export type MemberId = string;
export type Term = number;

export interface Member {
  readonly id: MemberId;
  /** Unique within the cluster. */
  readonly name: string;
  /** `https://host:port` at which other replicas reach it. */
  readonly peerUrl: string;
  /** `https://host:port` of its API; empty until it has told. */
  readonly clientUrl: string;
}

/**
 * Who takes part. `outgoing` is set while the configuration is joint: then both `voters` and
 * `outgoing` must have a majority for every decision. A configuration counts as soon as it is in the log.
 */
export interface Configuration {
  readonly voters: readonly Member[];
  /** Receive everything, count for nothing. */
  readonly learners: readonly Member[];
  /** The voters that are being left behind. */
  readonly outgoing?: readonly Member[];
}

/**
 * `command`: opaque to the log. `configuration`: `data` is an encoded `Configuration`. `empty`: the first
 * entry of a leader's term. Configuration and empty entries are delivered with an empty command.
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

/** The entry that everything after continues from: the last one that a snapshot or a cut covers. */
export interface LogPoint {
  readonly index: LogIndex;
  readonly term: Term;
  /** Of that entry: where the chain of checksums goes on. */
  readonly checksum: number;
}

/** Identifies a snapshot of the state: everything up to `index` applied. */
export interface SnapshotPoint extends LogPoint {
  /** The configuration as of `index`. */
  readonly configuration: Configuration;
}

interface Envelope {
  readonly from: MemberId;
  readonly to: MemberId;
  /** The sender's term; for a pre-vote request and a granted pre-vote the term that is asked for. */
  readonly term: Term;
}

export type VoteRequest = Envelope & {
  readonly kind: 'voteRequest';
  /** Asks only whether a vote would be given: neither side changes its term. */
  readonly preVote: boolean;
  readonly lastIndex: LogIndex;
  readonly lastTerm: Term;
  /** The leader asked for it: a live leader is no reason to refuse. */
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
  /** p99 of this replica's synced writes, 0 before any was measured: a leader with a slow disk hands over to a quicker one. */
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
  /** Undefined: the asked replica is not (or no longer) the leader. */
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

/** The leader's: stand for election at once. */
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

/** Why a command was not taken; certain, so that the proposer may try again without care. */
export type RefusalCode =
  /** No leader is known, or the asked replica is not it. */
  | 'NoLeader'
  /** The lead is being given away: try again in a moment. */
  | 'Transferring'
  /** Too much is uncommitted. */
  | 'QueueFull'
  | 'TooLarge';

/** One request to storage: one synced batch. At most one is under way. */
export interface WriteRequest {
  /** Grows by one; told back by `written`. */
  readonly id: number;
  readonly hardState: HardState | undefined;
  /** Drop entries from this index on, before `entries` are appended. */
  readonly truncateFrom: LogIndex | undefined;
  readonly entries: readonly Entry[];
}

/** Entries that are no longer in memory and a peer, or this replica's own state, needs. Answered by `entriesRead`. */
export interface ReadRequest {
  /** This replica's own id: committed entries for its own state. */
  readonly peer: MemberId;
  readonly from: LogIndex;
  readonly to: LogIndex;
  readonly bytesMax: number;
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
  /** Another change is under way. */
  | 'ChangePending'
  | 'UnknownMember'
  /** Id, name or peer address is taken. */
  | 'DuplicateMember'
  | 'LastVoter'
  /** The learner is not yet close enough to the leader's log. */
  | 'LearnerLags'
  /** The voters that would remain have no majority that answers now. */
  | 'WouldLoseQuorum'
  /** Leadership was lost meanwhile: look at the members, then try again. */
  | 'OutcomeUnknown';

export interface MembershipResult {
  readonly requestId: number;
  /** Absent: the new configuration is committed. */
  readonly error?: { readonly code: MembershipErrorCode; readonly message: string };
}

export interface TransferResult {
  readonly requestId: number;
  /** Absent: `to` leads (or somebody else does, which is as good to whoever wanted to stop leading). */
  readonly error?: {
    readonly code: 'NotLeader' | 'UnknownMember' | 'NotVoter' | 'TargetLags' | 'TimedOut';
    readonly message: string;
  };
}

export interface Leadership {
  readonly term: Term;
  readonly leader: MemberId | undefined;
  readonly role: Role;
}

/** Everything a step leaves to do. The shell does all of it, in any order but that of the lists. */
export interface Output {
  /** Absent while one is under way. */
  readonly write: WriteRequest | undefined;
  /** To send now. What depends on a write is held back by the core until that is done. */
  readonly messages: readonly Message[];
  /** Committed entries to hand to the state, in order, each once. Bounded by what is applied (`applied`). */
  readonly committed: readonly Entry[];
  /** A reader that asked under `context` may look once `index` is applied; undefined index: ask again. */
  readonly readStates: readonly {
    readonly context: number;
    readonly index: LogIndex | undefined;
  }[];
  readonly refusals: readonly { readonly ids: readonly number[]; readonly code: RefusalCode }[];
  readonly reads: readonly ReadRequest[];
  /** Peers that need a snapshot; each is told back by `snapshotSent`. */
  readonly snapshotsToSend: readonly MemberId[];
  /**
   * Install this received snapshot; told back by `snapshotInstalled`. Comes when no write is under way; the
   * core takes no entries and asks for no write until it is told back.
   */
  readonly install: SnapshotPoint | undefined;
  /** Received snapshots that are not wanted (any more): to be discarded. */
  readonly snapshotsRefused: readonly SnapshotPoint[];
  readonly membershipResults: readonly MembershipResult[];
  readonly transferResults: readonly TransferResult[];
  /** Set when it changed. */
  readonly leadership: Leadership | undefined;
  /** Set when the configuration in effect changed. */
  readonly configuration: Configuration | undefined;
}

/** What the shell tells the core besides messages. */
export type LocalEvent =
  | { readonly kind: 'written'; readonly id: number }
  /** `entries` undefined: what was asked for has been cut off meanwhile. */
  | {
      readonly kind: 'entriesRead';
      readonly request: ReadRequest;
      readonly entries: readonly Entry[] | undefined;
    }
  /** The state has applied everything up to `index`. */
  | { readonly kind: 'applied'; readonly index: LogIndex }
  /** Entries up to `point` have been cut off on disk. */
  | { readonly kind: 'cut'; readonly point: LogPoint }
  /** Sending ended; `point` undefined: it failed. */
  | {
      readonly kind: 'snapshotSent';
      readonly to: MemberId;
      readonly point: SnapshotPoint | undefined;
    }
  /** A whole, verified snapshot lies ready. */
  | {
      readonly kind: 'snapshotReceived';
      readonly point: SnapshotPoint;
      readonly from: MemberId;
      readonly term: Term;
    }
  /** State and log are as of `point`. */
  | { readonly kind: 'snapshotInstalled'; readonly point: SnapshotPoint }
  /** The stream to a peer broke: what was in flight may be lost. */
  | { readonly kind: 'peerUnreachable'; readonly peer: MemberId }
  /** A fresh replica has met all its peers: from now on it takes part. */
  | { readonly kind: 'admitted' }
  /** Measured time of synced writes of this replica, for handing over from a slow disk. */
  | { readonly kind: 'diskLatency'; readonly p99Ms: number };

export interface CoreOptions {
  readonly id: MemberId;
  /** Ticks between heartbeats. */
  readonly heartbeatTicks: number;
  /**
   * Ticks without a leader before an election; drawn anew from [n, 2n) each time. The first try after a start
   * comes earlier.
   */
  readonly electionTicks: number;
  /** Uniform in [0, 1). */
  readonly random: () => number;
  /** Append messages under way to one follower. Higher: more memory and longer queues; lower: idle links. */
  readonly inFlightMessagesMax: number;
  readonly inFlightBytesMax: number;
  /** Entries and bytes of one append message. */
  readonly appendEntriesMax: number;
  readonly appendBytesMax: number;
  /** Uncommitted bytes of the leader, and so what a new leader may have to commit first. */
  readonly uncommittedBytesMax: number;
  /** Committed but not yet applied entries and bytes that `Output.committed` may run ahead. */
  readonly unappliedEntriesMax: number;
  readonly unappliedBytesMax: number;
  /** Newest entries kept in memory. Higher: more memory; lower: slow followers are served from disk. */
  readonly cacheEntriesMax: number;
  readonly cacheBytesMax: number;
  /** Messages that wait for a write. Those above are dropped, as a network may: the sender repeats itself. */
  readonly heldMessagesMax: number;
  /** A learner may be promoted when at most that many entries behind. */
  readonly promoteLagMax: number;
  /**
   * Answer reads from the leader's lease without a round. Off: never stale even if clocks rate apart. On: the
   * shell must tick for the time that passed before it asks for a read, also after a pause of the process.
   */
  readonly leaseReads: boolean;
  /**
   * A leader whose disk stays slower than this for two election timeouts hands over to a voter with a quicker
   * one; half the election timeout. Higher: slow writes are borne longer; lower: leadership wanders.
   */
  readonly slowDiskMs: number;
}

/** What a restart finds. */
export interface InitialState {
  readonly hardState: HardState;
  /** Configuration in effect: the newest in the log, else that of `start`. */
  readonly configurations: readonly {
    readonly index: LogIndex;
    readonly configuration: Configuration;
  }[];
  /** The log begins after it. */
  readonly start: LogPoint;
  readonly last: LogPoint;
  /** First index of each term in the log, ascending: enough to know the term of every entry. */
  readonly terms: readonly { readonly firstIndex: LogIndex; readonly term: Term }[];
  /** The newest entries, contiguous up to `last` (as many as the cache holds; may be empty). */
  readonly tail: readonly Entry[];
  /** What the state has applied. */
  readonly appliedIndex: LogIndex;
  /** The state is unusable: take no entries before a snapshot. */
  readonly needsSnapshot: boolean;
  /** False: takes part in nothing yet (a fresh directory that has not met its peers). */
  readonly mayVote: boolean;
}
