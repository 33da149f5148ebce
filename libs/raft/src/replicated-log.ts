/**
 * The seam between consensus and the store: a totally ordered log that survives crashes.
 * The store knows nothing else of replication. `LocalLog` (one replica) implements it; the Raft
 * replica will, without a change on the store's side.
 */

/** Position of an entry in the log; the first entry has index 1. */
export type LogIndex = number & { readonly __brand: 'LogIndex' };

export interface CommittedEntry {
  readonly index: LogIndex;
  /** The proposed command, byte for byte. */
  readonly command: Buffer;
}

/**
 * Called with entries in index order, each exactly once per process life, from `appliedIndex` on.
 * It has applied them when it returns. A returned promise holds the next delivery back until it
 * resolves: the way in which a state that cannot keep up with its disk slows the log down.
 */
export type CommittedHandler = (entries: readonly CommittedEntry[]) => Promise<void> | undefined;

export interface ReplicatedLog {
  /**
   * Opens the log and delivers every committed entry with an index greater than `appliedIndex`
   * to `onCommitted`, first those on disk (in slices, so that the event loop stays free), then new
   * ones as they commit. Resolves when the entries found on disk have been delivered.
   */
  start(appliedIndex: LogIndex, onCommitted: CommittedHandler): Promise<void>;

  /**
   * Appends a command. Resolves with its index once it is durable on a quorum; `onCommitted` has
   * been called with it by then. `deadlineMs` is an instant on the injected clock's `monotonicMs`.
   * Rejects with `LogError`: `QueueFull` and `DeadlineExceeded` (not appended, retryable), `TooLarge`,
   * `Stopped` and `NoQuorum` (not appended), `OutcomeUnknown` (may or may not be committed).
   */
  propose(command: Buffer, deadlineMs: number): Promise<LogIndex>;

  /**
   * Resolves with an index such that a reader whose state has applied it sees every write that was
   * acknowledged before this call (ReadIndex). One round serves all callers waiting at that moment.
   * `deadlineMs` as for `propose`.
   */
  readBarrier(deadlineMs: number): Promise<LogIndex>;

  /** Entries up to and including `index` are in the caller's own durable state and may be dropped. */
  truncate(index: LogIndex): Promise<void>;

  status(): LogStatus;

  /** Flushes and closes; pending proposals reject with `Stopped`. Idempotent. */
  stop(): Promise<void>;
}

export interface LogStatus {
  readonly role: 'leader' | 'follower' | 'learner';
  readonly commitIndex: LogIndex;
  readonly firstIndex: LogIndex;
  readonly lastIndex: LogIndex;
  readonly proposalsPending: number;
  /** Why writes cannot be taken now, in words for an operator; absent when they can. */
  readonly unavailableReason?: string;
}

export type LogErrorCode =
  | 'QueueFull'
  | 'DeadlineExceeded'
  | 'Stopped'
  | 'NoQuorum'
  | 'OutcomeUnknown'
  | 'TooLarge'
  /** The directory cannot be used; the message names cause and cure. */
  | 'BadDirectory'
  /** An entry or record is damaged or missing; nothing of it was served. */
  | 'Corrupt';

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
