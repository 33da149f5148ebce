/**
 * The interface of the store: a multi-version key-value map with compare-and-set
 * commits, reads at chosen consistency and watches from a revision. Keys are
 * `<group>/<resource>/<namespace>/<name>` or `<group>/<resource>/<name>`; order is by UTF-16 code
 * unit.
 */
import type { Awaitable } from '@orch/component';

/**
 * Version of the whole store; grows by one with each commit that changes anything. First commit: 1.
 */
export type Revision = number & { readonly __brand: 'Revision' };

export function toRevision(value: number): Revision {
  return value as Revision;
}

/** The revision of an empty store. */
export const noRevision = toRevision(0);

export function maxRevision(left: Revision, right: Revision): Revision {
  return left > right ? left : right;
}

/**
 * One version of one key. Immutable except `derived`; shared by every reader and watcher of one
 * thread. Never shared between threads: each thread has its own entries, whose `bytes` may view
 * shared memory.
 */
export interface Entry {
  readonly key: string;
  /** The stored bytes, with the revision inserted. Outside the JS heap. Never written to. */
  readonly bytes: Buffer;
  /** Revision at which this key was created. */
  readonly createRevision: Revision;
  /** Revision of this version. */
  readonly revision: Revision;
  /**
   * Values that readers compute from `bytes` on first use (parsed object, protobuf, table row). For
   * the API server only: the store ignores it. It is released with the entry.
   */
  derived: unknown;
}

export type ReadConsistency =
  /** Sees everything acknowledged before the call. */
  | { readonly kind: 'quorum' }
  /** Reads memory as it is. */
  | { readonly kind: 'any' }
  /** Waits until the store has reached the revision, until the deadline. */
  | { readonly kind: 'notOlderThan'; readonly revision: Revision }
  /** The state as it was at that revision. */
  | { readonly kind: 'exact'; readonly revision: Revision };

export interface ReadOptions {
  readonly consistency: ReadConsistency;
  /** How long the call may wait, from now. */
  readonly timeoutMs: number;
}

export interface ListOptions extends ReadOptions {
  /** Only keys greater than this one (a continue token's last key). */
  readonly startAfter?: string;
  /** Maximum number of entries. */
  readonly limit?: number;
}

export interface GetResult {
  readonly entry: Entry | undefined;
  /** The store's revision when it was read. */
  readonly revision: Revision;
}

export interface ListResult {
  readonly entries: readonly Entry[];
  /** Revision of the list: every entry is as of it. */
  readonly revision: Revision;
  /**
   * Number of entries after the last one returned; 0 exactly if the list is complete. Exact if the
   * changes since `revision` are few and in memory, else an estimate from the present keys.
   */
  readonly remainingCount: number;
}

/** Condition for a commit to take effect. */
export type Expectation =
  | { readonly kind: 'absent' }
  | { readonly kind: 'revision'; readonly revision: Revision };

export type Operation =
  | {
      readonly kind: 'put';
      readonly key: string;
      readonly bytes: Buffer;
      /** Byte offset in `bytes` at which the decimal revision is inserted when applied. */
      readonly revisionOffset?: number;
      /** Time after the commit at which the leader proposes to delete the key. */
      readonly timeToLiveMs?: number;
      readonly expect?: Expectation;
    }
  | {
      readonly kind: 'delete';
      readonly key: string;
      /**
       * The last version in the watch event of the deletion, if it differs from the stored one; the
       * revision is inserted at `revisionOffset`. Default: the stored version with the revision of
       * the deletion.
       */
      readonly lastBytes?: Buffer;
      readonly revisionOffset?: number;
      readonly expect?: Expectation;
    }
  /** Only a condition: fails the commit if it does not hold, changes nothing. */
  | { readonly kind: 'check'; readonly key: string; readonly expect: Expectation };

export type CommitResult =
  | {
      readonly succeeded: true;
      /** The store's revision after the commit. */
      readonly revision: Revision;
      /**
       * One per operation: the new entry of a put, the last entry of a delete, undefined for a
       * check or a delete of an absent key.
       */
      readonly entries: readonly (Entry | undefined)[];
    }
  | {
      readonly succeeded: false;
      readonly revision: Revision;
      /** Index of the first operation whose expectation did not hold. */
      readonly failedOperation: number;
      /** The entry stored under its key. */
      readonly current: Entry | undefined;
    };

export interface WatchEvent {
  readonly revision: Revision;
  readonly kind: 'put' | 'delete';
  readonly key: string;
  /** The version before; undefined for a creation. */
  readonly previous: Entry | undefined;
  /** The version after a put; for a delete the last version, with the revision of the deletion. */
  readonly entry: Entry;
  /** Like `Entry.derived`: shared by all watches of this event. */
  derived: unknown;
}

/**
 * A value of objects by which watches select. Watches with the same index object are found by their
 * value, so that an event costs only those whose value its object has or had.
 */
export interface WatchIndex {
  /** Must not throw. Undefined: unknown, so every watch with this index gets the event. */
  valueOf(entry: Entry): string | undefined;
}

export interface WatchOptions {
  /**
   * Empty: every key. Ending in `/`: the keys that start with it. Else whole segments: that key and
   * those below it, so that `core/pods/ns/a` does not select `core/pods/ns/ab`.
   */
  readonly prefix: string;
  /**
   * Events whose object has another value, before and after, need not be delivered; they are while
   * the watch catches up.
   */
  readonly selects?: { readonly index: WatchIndex; readonly value: string };
  /** Selects events with a greater revision. Must not be compacted and not be in the future. */
  readonly afterRevision: Revision;
  /**
   * Receives the events of one or more commits in revision order; a commit is never split over two
   * calls. Called synchronously at apply, so it must return quickly. Every event up to `revision`
   * has been delivered.
   */
  readonly onEvents: (events: readonly WatchEvent[], revision: Revision) => void;
  /**
   * Called before more past events are delivered. Returns undefined to receive them now, else a
   * promise that resolves, and never rejects, when the watch has room. Default: past events are
   * delivered as fast as they can be read.
   */
  readonly whenReady?: () => Promise<void> | undefined;
  /** The store ended the watch (stopped, lost or compacted); not called after `close`. */
  readonly onEnd: (error: StoreError) => void;
}

export interface WatchHandle {
  /** Every event up to this revision has been delivered to this watch. */
  readonly revision: Revision;
  close(): void;
}

export interface StoreStatus {
  readonly ready: boolean;
  /** Why the store is not ready or not writable, for an operator. */
  readonly reason?: string;
  readonly revision: Revision;
  /** Oldest revision that can be read exactly or watched from. */
  readonly compactedRevision: Revision;
  readonly keyCount: number;
  /** Payload bytes of live keys. */
  readonly valueBytes: number;
}

/**
 * Reads and watches. An implementation may live in any thread: arguments and results are plain
 * data, apart from the callbacks of a watch, which the implementation calls in its own thread, and
 * no state is shared with the thread that applies commits. An implementation that follows a store
 * in another thread returns its own `Entry` objects and its own, possibly older, `revision()`;
 * reads keep the consistency they were called with.
 */
export interface StoreReader {
  /** A promise only if the read has to wait or fails: most gets only read memory. */
  get(key: string, options: ReadOptions): Awaitable<GetResult>;
  /** Entries whose key starts with `prefix`, in key order. */
  list(prefix: string, options: ListOptions): Promise<ListResult>;
  /**
   * Synchronous, so that list-then-watch has no gap. Throws StoreError `Compacted` or
   * `FutureRevision`.
   */
  watch(options: WatchOptions): WatchHandle;
  /** Newest revision in the memory of this implementation. Never decreases. */
  revision(): Revision;
  /** Oldest revision that can be read exactly or watched from. Never decreases. */
  compactedRevision(): Revision;
}

/**
 * Commits. An implementation may live in any thread: operations and results are plain data. `bytes`
 * of an operation belong to the store from the call on: the caller does not write to them again.
 */
export interface StoreWriter {
  /**
   * All operations or none. Rejects with StoreError; a failed expectation is a result, not an
   * error. Throws RangeError for operations that no caller may pass: a malformed key, one key
   * changed twice, a `revisionOffset` outside of the bytes.
   */
  commit(operations: readonly Operation[], timeoutMs: number): Promise<CommitResult>;
}

/** What serving requests needs of the store. */
export interface ReadWriteStore extends StoreReader, StoreWriter {}

/** Lifecycle, compaction and status: for the process that owns the store, in the owning thread. */
export interface StoreAdministration {
  /**
   * Opens and recovers. Rejects with StoreError when the directory is foreign, locked or corrupt.
   */
  start(): Promise<void>;
  stop(): Promise<void>;
  /**
   * Drops history below `revision`. Reads and watches at `revision` or later still work, also
   * `exact` and `afterRevision` at the compacted revision itself. Does nothing if `revision` was
   * compacted before; rejects with `FutureRevision` if it is not reached.
   */
  compact(revision: Revision): Promise<void>;
  /**
   * Highest revision committed at least `ageMs` ago, as far as this replica has recorded; 0 if
   * none.
   */
  revisionBefore(ageMs: number): Revision;
  status(): StoreStatus;
}

export interface VersionedStore extends ReadWriteStore, StoreAdministration {}

export type StoreErrorCode =
  /** Revision compacted away: 410. */
  | 'Compacted'
  /** Revision not reached within the timeout: 504. */
  | 'FutureRevision'
  /** Certainly no effect, safe to retry: 503 or 429. */
  | 'Unavailable'
  | 'Overloaded'
  /** May have taken effect: 504. */
  | 'OutcomeUnknown'
  /** Over the object or quota limit: 413, 507-like. */
  | 'TooLarge'
  | 'NoSpace'
  /** The data directory is unusable; the message names cause and remedy. */
  | 'BadDirectory'
  | 'Corrupt'
  /** The stored value cannot be decrypted with the present keys: 500. */
  | 'Undecryptable'
  | 'Stopped';

export class StoreError extends Error {
  override readonly name = 'StoreError';
  constructor(
    readonly code: StoreErrorCode,
    message: string,
    /** For `Compacted` the oldest, for `FutureRevision` the newest revision. */
    readonly revision?: Revision,
  ) {
    super(message);
  }
}
