/**
 * The seam between consensus and the store: a totally ordered log that a quorum of replicas keeps.
 * The store knows nothing else of replication. Implemented by `HostedLog` (the replica on its own
 * thread) and by `ReplicaLog` (the same replica on the caller's thread: simulation and unit tests).
 */
import type {
  Configuration,
  Leadership,
  Member,
  MemberId,
  MembershipChange,
  MembershipErrorCode,
  SnapshotPoint,
  Term,
} from './core/types.js';

/** Position of an entry in the log; the first entry has index 1. */
export type LogIndex = number & { readonly __brand: 'LogIndex' };

export interface CommittedEntry {
  readonly index: LogIndex;
  /** The proposed command, byte for byte; empty for an entry of the log's own (a term's first, a configuration). */
  readonly command: Buffer;
}

/** What the store gives the log at start. Calls come one at a time unless said otherwise. */
export interface LogHandlers {
  /**
   * Entries in index order, each exactly once per process life, from the applied index on. Applied when
   * it returns; a returned promise holds the next delivery back: the way in which a state that cannot
   * keep up with its disk slows the log down.
   */
  onCommitted(entries: readonly CommittedEntry[]): Promise<void> | undefined;
  /** These proposals were certainly not appended this time. */
  onRefused(proposalIds: readonly number[], error: LogError): void;
  /** Term, leader or role changed. What was proposed before and is still without outcome may be lost. */
  onLeadership(leadership: Leadership): void;
  readonly snapshots: SnapshotHandlers;
}

/** How the log gets at the state as a whole: to send it to a replica that is too far behind, to receive it. */
export interface SnapshotHandlers {
  /** A consistent view of the state on disk; writes go on meanwhile. Closed by the log in any case. */
  open(): Promise<OutgoingSnapshot>;
  /** Room for a state that comes in, beside the one in use. Whatever an earlier one left is dropped. */
  receive(): Promise<IncomingSnapshot>;
  /**
   * Puts the finished incoming state in the place of the one in use, on disk (atomic: a crash leaves one
   * of the two) and in memory. `point` is kept with it durably. Resolves once readers see it.
   */
  install(point: SnapshotPoint): Promise<void>;
}

export interface OutgoingSnapshot {
  /** What the state has applied. */
  readonly appliedIndex: LogIndex;
  /** The next piece, at most `SNAPSHOT_CHUNK_BYTES`; undefined at the end. Carries its own checksums. */
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
  /** The snapshot that this state came from, if it did: the log may have to be moved up to it. */
  readonly installed: SnapshotPoint | undefined;
  /** The state database was damaged and discarded: a snapshot must come from the leader. */
  readonly needsSnapshot: boolean;
}

export interface ReplicatedLog {
  /**
   * Opens the log and begins to take part. Resolves when it runs; entries come as they are known to be
   * committed, those on disk too. Rejects with LogError `BadDirectory`, `Corrupt`.
   */
  start(state: AppliedState, handlers: LogHandlers): Promise<void>;

  /**
   * Takes a command for the log, here or at the leader. Its outcome is learned by `onCommitted` alone;
   * `onRefused` says that this try came to nothing; neither may come when messages are lost, so propose
   * again (the same bytes) after a change of leadership or a while. `proposalId` is the caller's, unique
   * in its process life. Never throws.
   */
  propose(proposalId: number, command: Buffer): void;

  /**
   * Resolves with an index such that a reader whose state has applied it sees every write that was
   * acknowledged anywhere before this call (ReadIndex). One round serves all callers waiting at that
   * moment. `deadlineMs` is an instant on the injected clock's `monotonicMs`. Rejects with LogError
   * `NoQuorum` or `Stopped`.
   */
  readBarrier(deadlineMs: number): Promise<LogIndex>;

  /** Entries up to and including `index` are in the caller's own durable state and may be dropped. */
  truncate(index: LogIndex): Promise<void>;

  status(): LogStatus;

  /**
   * Resolves once committed. On another replica than the leader the request goes to the leader over the
   * peer network; rejects with MembershipError, `NotLeader` when none is known in time.
   */
  changeMembership(change: MembershipChange, deadlineMs: number): Promise<Configuration>;

  /** Gives the lead to `to`, or to the most up-to-date voter. Resolves when another leads. Goes to the leader as above. */
  transferLeadership(to: MemberId | undefined, deadlineMs: number): Promise<void>;

  /** What the replicas that answer in time say of themselves; this one is among them. */
  peerStatus(deadlineMs: number): Promise<readonly ReplicaStatus[]>;

  /** Facts that this replica tells with its status: pid, version, revision, state hash. Replaces those set before. */
  setFacts(facts: Readonly<Record<string, string | number>>): void;

  /** Flushes and closes; barriers reject with `Stopped`. Idempotent. Does not transfer the lead. */
  stop(): Promise<void>;
}

/** What one replica knows of itself. Kept by each at most 100 ms old. */
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
  /** At the leader: what it knows of the others. */
  readonly progress: readonly PeerProgress[];
  /** Bytes of the log's directory. */
  readonly sizeBytes: number;
  /** Why writes cannot be taken now, in words for an operator; absent when they can. */
  readonly unavailableReason?: string;
}

export interface PeerProgress {
  readonly id: MemberId;
  readonly matchIndex: LogIndex;
  readonly appliedIndex: LogIndex;
  readonly state: 'probe' | 'replicate' | 'snapshot';
  /** Answered within the last election timeout. */
  readonly recentlyActive: boolean;
}

export interface ReplicaStatus {
  readonly member: Member;
  /** Absent: it did not answer in time, `error` says why. */
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
