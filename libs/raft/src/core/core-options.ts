/** Settings of the core and the state that it starts from. */

import type {
  Configuration,
  Entry,
  HardState,
  LogIndex,
  LogPoint,
  MemberId,
  Term,
} from './types.js';

export interface CoreOptions {
  readonly id: MemberId;
  /** Ticks between heartbeats. */
  readonly heartbeatTicks: number;
  /**
   * The same while every member has everything. Higher: a shorter stall of an idle leader starts an
   * election. Lower: more messages while idle.
   */
  readonly idleHeartbeatTicks: number;
  /**
   * Ticks without a leader before an election, drawn from [n, 2n) for each. The first attempt after
   * a start is earlier. Higher: a lost leader is replaced later. Lower: more elections without
   * cause.
   */
  readonly electionTicks: number;
  /** Uniform in [0, 1). */
  readonly random: () => number;
  /**
   * Append messages in flight to one follower. Higher: more memory and longer queues. Lower: idle
   * links.
   */
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
  /**
   * Newest entries kept in memory. Higher: more memory; lower: slow followers are served from disk.
   */
  readonly cacheEntriesMax: number;
  readonly cacheBytesMax: number;
  /**
   * Messages that wait for a write. Those above are dropped, as a network may: the sender repeats
   * itself.
   */
  readonly heldMessagesMax: number;
  /** A learner may be promoted when at most that many entries behind. */
  readonly promoteLagMax: number;
  /**
   * Serves reads from the leader's lease without a round. Off: never stale, even if clocks run at
   * different rates. On: the replica must tick for the time that passed before it requests a read,
   * also after a pause of the process.
   */
  readonly leaseReads: boolean;
  /**
   * A leader whose disk stays slower than this for two election timeouts hands over to a voter with
   * a quicker one; half the election timeout. Higher: slow writes are borne longer; lower:
   * leadership wanders.
   */
  readonly slowDiskMs: number;
  /**
   * Checks the whole state after every step. On: several times the CPU; for tests and debugging.
   */
  readonly verifies: boolean;
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
