/**
 * All that the API server sees of the store: a multi-version key-value map with compare-and-set
 * commits, reads at chosen consistency and watches from a revision. Keys are
 * `<group>/<resource>/<namespace>/<name>` or `<group>/<resource>/<name>`; order is by UTF-16 code unit.
 */

/** Version of the whole store; grows by one with each commit that changes anything. First commit: 1. */
export type Revision = number & { readonly __brand: 'Revision' };

/** One version of one key. Immutable but for `derived`; shared by every reader and watcher. */
export interface Entry {
  readonly key: string;
  /** The bytes as stored, with the revision spliced in. Lives outside the JS heap. Never written to. */
  readonly bytes: Buffer;
  /** Revision at which this key last came into being. */
  readonly createRevision: Revision;
  /** Revision of this version. */
  readonly revision: Revision;
  /** What readers compute from `bytes` at first need (parsed object, protobuf, table row). The API
   *  server's own; the store never looks at it and it goes away with the entry. */
  derived: unknown;
}

export type ReadConsistency =
  /** Sees everything acknowledged before the call. */
  | { readonly kind: 'quorum' }
  /** Whatever memory has. */
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
  /** At most that many entries. */
  readonly limit?: number;
}

export interface GetResult {
  readonly entry: Entry | undefined;
  /** The store's revision when it was read. */
  readonly revision: Revision;
}

export interface ListResult {
  readonly entries: readonly Entry[];
  /** Revision the list shows: every entry is as of it, nothing newer. */
  readonly revision: Revision;
  /** How many entries follow after the last one returned; 0 exactly when the list is complete. Exact
   *  as long as the changes since `revision` are few and in memory, else an estimate by the keys of now. */
  readonly remainingCount: number;
}

/** What must hold for a commit to take effect. */
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
      /** Key is deleted that long after the commit, by a proposal of the leader. */
      readonly timeToLiveMs?: number;
      readonly expect?: Expectation;
    }
  | {
      readonly kind: 'delete';
      readonly key: string;
      /** The last version that watchers get for the deletion, if it differs from the one stored
       *  (as with a final change); the revision is inserted at `revisionOffset`. Without it they get
       *  the stored one with the revision in it replaced by the deletion's. */
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
      /** One per operation: the new entry of a put, the last entry of a delete, undefined for a check
       *  or a delete of what is absent. */
      readonly entries: readonly (Entry | undefined)[];
    }
  | {
      readonly succeeded: false;
      readonly revision: Revision;
      /** Index of the first operation whose expectation did not hold. */
      readonly failedOperation: number;
      /** What is stored under its key. */
      readonly current: Entry | undefined;
    };

export interface WatchEvent {
  readonly revision: Revision;
  readonly kind: 'put' | 'delete';
  readonly key: string;
  /** The version before; undefined for a creation. */
  readonly previous: Entry | undefined;
  /** The version after a put; for a delete the last version, its revision being the deletion's. */
  readonly entry: Entry;
  /** As `Entry.derived`: shared by all watchers of this event. */
  derived: unknown;
}

export interface WatchOptions {
  /**
   * Empty: every key. Ending in `/`: the keys that start with it. Else whole segments: that key and
   * those below it, so that `core/pods/ns/a` does not select `core/pods/ns/ab`.
   */
  readonly prefix: string;
  /** Events with a greater revision. Must be known: not compacted, not in the future. */
  readonly afterRevision: Revision;
  /**
   * Events of one or more commits in revision order, a commit never split over two calls; called
   * synchronously at apply, so it must be quick. `revision`: everything up to it has been delivered.
   */
  readonly onEvents: (events: readonly WatchEvent[], revision: Revision) => void;
  /**
   * Asked before more of the past is delivered: undefined to take it now, else a promise that resolves,
   * and never rejects, once there is room. Without it the past comes as fast as it can be read.
   */
  readonly whenReady?: () => Promise<void> | undefined;
  /** The watch has ended by itself (store stopped or lost); not called after `close`. */
  readonly onEnd: (error: StoreError) => void;
}

export interface WatchHandle {
  /** Everything up to this revision has been delivered to this watch. */
  readonly revision: Revision;
  close(): void;
}

export interface StoreStatus {
  readonly ready: boolean;
  /** Why not ready or not writable, for an operator. */
  readonly reason?: string;
  readonly revision: Revision;
  /** History below it is gone; it is the oldest that can be read exactly or watched from. */
  readonly compactedRevision: Revision;
  readonly keyCount: number;
  /** Payload bytes of live keys. */
  readonly valueBytes: number;
}

export interface VersionedStore {
  /** Opens and recovers. Rejects with StoreError when the directory is foreign, locked or corrupt. */
  start(): Promise<void>;
  stop(): Promise<void>;
  get(key: string, options: ReadOptions): Promise<GetResult>;
  /** Entries whose key starts with `prefix`, in key order. */
  list(prefix: string, options: ListOptions): Promise<ListResult>;
  /**
   * All operations or none. Rejects with StoreError; a failed expectation is a result, not an error.
   * Throws RangeError for what no caller may ask: a malformed key, one key changed twice, a
   * `revisionOffset` outside of the bytes.
   */
  commit(operations: readonly Operation[], timeoutMs: number): Promise<CommitResult>;
  /** Synchronous, so that list-then-watch has no gap. Throws StoreError `Compacted` or `FutureRevision`. */
  watch(options: WatchOptions): WatchHandle;
  /**
   * Drops history below `revision`: what a read or watch at `revision` or later needs is kept, so
   * `exact` and `afterRevision` at the compacted revision itself still work. Does nothing when it was
   * compacted before; rejects with `FutureRevision` when it is not reached.
   */
  compact(revision: Revision): Promise<void>;
  /** Newest revision in this replica's memory. */
  revision(): Revision;
  /** Highest revision committed at least `ageMs` ago, as far as this replica knows; 0 if none. */
  revisionBefore(ageMs: number): Revision;
  status(): StoreStatus;
}

export type StoreErrorCode =
  /** Revision compacted away: 410. */
  | 'Compacted'
  /** Revision not reached within the timeout: 504. */
  | 'FutureRevision'
  /** Not taken, safe to retry: 503 or 429. */
  | 'Unavailable'
  | 'Overloaded'
  /** May or may not have happened: 504. */
  | 'OutcomeUnknown'
  /** Over the object or quota limit: 413, 507-like. */
  | 'TooLarge'
  | 'NoSpace'
  /** The data directory cannot be used; the message names cause and cure. */
  | 'BadDirectory'
  | 'Corrupt'
  | 'Stopped';

export class StoreError extends Error {
  override readonly name = 'StoreError';
  constructor(
    readonly code: StoreErrorCode,
    message: string,
    /** For `Compacted` and `FutureRevision`: the revision that is known. */
    readonly revision?: Revision,
  ) {
    super(message);
  }
}
