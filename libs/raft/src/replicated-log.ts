/**
 * The seam between consensus and the store: a totally ordered log that a quorum of replicas keeps.
 * The store knows nothing else of replication. Implemented by `WorkerReplicatedLog` (the replica on
 * its own thread) and by `InThreadReplicatedLog` (the same replica on the caller's thread:
 * simulation and unit tests).
 */
import type { PeerProgress } from './core/status.js';
import type {
  Configuration,
  Leadership,
  LogIndex,
  Member,
  MemberId,
  MembershipChange,
  MembershipErrorCode,
  SnapshotPoint,
  Term,
} from './core/types.js';

export interface CommittedEntry {
  readonly index: LogIndex;
  /**
   * The proposed command, byte for byte; empty for an entry of the log's own (a term's first, a
   * configuration).
   */
  readonly command: Buffer;
}

/** Handlers of the store. Calls are sequential unless noted otherwise. */
export interface LogHandlers {
  /**
   * Entries in index order, each exactly once per process life, from the applied index on. Applied
   * when it returns; a returned promise holds the next delivery back: the way in which a state that
   * cannot keep up with its disk slows the log down.
   */
  onCommitted(entries: readonly CommittedEntry[]): Promise<void> | undefined;
  /** These proposals were certainly not appended this time. */
  onRefused(proposalIds: readonly number[], error: LogError): void;
  /** Term, leader or role changed. Earlier proposals without outcome may be lost. */
  onLeadership(leadership: Leadership): void;
  readonly snapshots: SnapshotHandlers;
}

/**
 * Access to the state as a whole: to send it to a replica that is too far behind, and to receive
 * it.
 */
export interface SnapshotHandlers {
  /**
   * A consistent view of the state on disk; writes continue meanwhile. The log always closes it.
   */
  open(): Promise<OutgoingSnapshot>;
  /** Space for a received state, beside the one in use. Discards an unfinished earlier one. */
  receive(): Promise<IncomingSnapshot>;
  /**
   * Replaces the state in use by the finished received one, on disk (atomic: a crash leaves one of
   * the two) and in memory. `point` is stored with it durably. Resolves once readers see it.
   */
  install(point: SnapshotPoint): Promise<void>;
}

export interface OutgoingSnapshot {
  /** What the state has applied. */
  readonly appliedIndex: LogIndex;
  /**
   * The next piece, at most `snapshotChunkBytes`; undefined at the end. Carries its own checksums.
   */
  next(): Promise<Buffer | undefined>;
  close(): Promise<void>;
}

export interface IncomingSnapshot {
  write(chunk: Buffer): Promise<void>;
  /** Verifies all of it and brings it to stable storage. Rejects with LogError `Corrupt`. */
  finish(): Promise<{ readonly appliedIndex: LogIndex }>;
  /** Removes every trace. Idempotent, also after `finish`. */
  discard(): Promise<void>;
}

/** What the store's directory says at start. */
export interface AppliedState {
  readonly appliedIndex: LogIndex;
  /** The snapshot that this state was installed from, if any: the log may have to move up to it. */
  readonly installed: SnapshotPoint | undefined;
  /** The state database was damaged and discarded: a snapshot must come from the leader. */
  readonly needsSnapshot: boolean;
}

export interface ReplicatedLog {
  /**
   * Opens the log and begins to take part. Resolves when it runs; entries come as they are known to
   * be committed, those on disk too. Rejects with LogError `BadDirectory`, `Corrupt`.
   */
  start(state: AppliedState, handlers: LogHandlers): Promise<void>;

  /**
   * Proposes a command, here or at the leader. `onCommitted` alone reports success; `onRefused`
   * reports that this attempt failed; neither may be called when messages are lost, so propose the
   * same bytes again after a change of leadership or a timeout. `proposalId` is the caller's,
   * unique in its process life. Never throws.
   */
  propose(proposalId: number, command: Buffer): void;

  /**
   * Resolves with an index such that a reader whose state has applied it sees every write that was
   * acknowledged anywhere before this call (ReadIndex). One round serves all callers waiting at
   * that moment. `deadlineMs` is an instant on the injected clock's `monotonicMs`. Rejects with
   * LogError `NoQuorum` or `Stopped`.
   */
  readBarrier(deadlineMs: number): Promise<LogIndex>;

  /**
   * The same index, when this replica knows it without a message to any other; undefined: call
   * `readBarrier`. Costs a read of memory, and nothing of the replica's thread.
   */
  localReadIndex(): LogIndex | undefined;

  /**
   * Entries up to and including `index` are in the caller's own durable state and may be dropped.
   */
  truncate(index: LogIndex): Promise<void>;

  status(): LogStatus;

  /**
   * Resolves once committed. On another replica than the leader the request goes to the leader over
   * the peer network; rejects with MembershipError, `NotLeader` when none is known in time.
   */
  changeMembership(change: MembershipChange, deadlineMs: number): Promise<Configuration>;

  /**
   * Transfers the leadership to `to`, or to the most up-to-date voter. Resolves when another member
   * leads. Forwarded to the leader as above.
   */
  transferLeadership(to: MemberId | undefined, deadlineMs: number): Promise<void>;

  /** Status of this replica and of all that respond in time. */
  peerStatus(deadlineMs: number): Promise<readonly ReplicaStatus[]>;

  /**
   * Sets facts that this replica reports with its status: pid, version, revision, state hash.
   * Replaces the earlier ones.
   */
  setFacts(facts: Readonly<Record<string, string | number>>): void;

  /** Flushes and closes; barriers reject with `Stopped`. Idempotent. Does not transfer the lead. */
  stop(): Promise<void>;
}

/**
 * Status of one replica. At most 800 ms old; its members are never older than the entries passed to
 * `onCommitted`.
 */
export interface LogStatus {
  readonly clusterId: string;
  readonly self: Member;
  readonly role: Leadership['role'];
  readonly term: Term;
  readonly leader: MemberId | undefined;
  readonly commitIndex: LogIndex;
  readonly appliedIndex: LogIndex;
  readonly firstIndex: LogIndex;
  readonly lastIndex: LogIndex;
  readonly proposalsPending: number;
  readonly configuration: Configuration;
  /** At the leader: progress of the other members. */
  readonly progress: readonly PeerProgress[];
  /** Bytes of the log's directory. */
  readonly sizeBytes: number;
  /** Why writes cannot be taken now, in words for an operator; absent when they can. */
  readonly unavailableReason?: string;
}

export interface ReplicaStatus {
  readonly member: Member;
  /** Absent: it did not respond in time; `error` has the reason. */
  readonly status?: LogStatus;
  /** Opaque facts that the process itself has added (`setFacts`): pid, version, revision, hash. */
  readonly facts?: Readonly<Record<string, string | number>>;
  readonly error?: string;
}

export type LogErrorCode =
  | 'QueueFull'
  | 'DeadlineExceeded'
  | 'Stopped'
  | 'NoQuorum'
  /** Not the leader, no leader known, or the lead is being given away. */
  | 'NoLeader'
  | 'TooLarge'
  /** The directory cannot be used; the message names cause and cure. */
  | 'BadDirectory'
  /** The members or addresses given at start do not fit; the message names the cure. */
  | 'BadConfiguration'
  /** An entry or record is damaged or missing; nothing of it was served. */
  | 'Corrupt'
  /** This member was removed from the cluster. */
  | 'Removed';

export class LogError extends Error {
  override readonly name = 'LogError';
  constructor(
    readonly code: LogErrorCode,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

export type MembershipFailure =
  | MembershipErrorCode
  | 'NotVoter'
  | 'TargetLags'
  | 'TimedOut'
  | 'Stopped';

/** A change of members or of the leader was refused, or its outcome is unknown. */
export class MembershipError extends Error {
  override readonly name = 'MembershipError';
  constructor(
    readonly code: MembershipFailure,
    message: string,
  ) {
    super(message);
  }
}
