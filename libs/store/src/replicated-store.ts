/**
 * The versioned store over a replicated log: the I/O shell around the pure state machine.
 *
 * Invariants: memory is authoritative and changes only by applying the log in order, or as a whole
 * when a snapshot is installed; the result of a commit comes from its own applied command; every
 * watch gets each commit once, whole and in order; a damaged record, a failed write or a state that
 * differs from the majority's ends the process through `onFatal`.
 */
import type { Awaitable } from '@orch/component';
import { StoreLifecycle } from './lifecycle/store-lifecycle.js';
import { formatHash } from './maintenance/hash-audit.js';
import { checkCommit } from './proposing/commit-check.js';
import { type ContentHash, hashContent } from './reading/content-hash.js';
import { futureRevisionError } from './revision-errors.js';
import { type OutgoingState, openOutgoing } from './snapshot/outgoing.js';
import type { StoreDependencies } from './store-dependencies.js';
import { resolveStoreOptions, type StoreOptions } from './store-options.js';
import {
  type CommitResult,
  type GetResult,
  type ListOptions,
  type ListResult,
  noRevision,
  type Operation,
  type ReadOptions,
  type Revision,
  type StoreStatus,
  type VersionedStore,
  type WatchHandle,
  type WatchOptions,
} from './versioned-store.js';

const compactTimeoutMs = 30_000;

export interface StateHash {
  readonly appliedIndex: number;
  readonly revision: Revision;
  readonly hash: string;
}

export class ReplicatedStore implements VersionedStore {
  private readonly options: StoreOptions;
  private readonly lifecycle: StoreLifecycle;

  constructor(private readonly dependencies: StoreDependencies) {
    this.options = resolveStoreOptions(dependencies.options);
    this.lifecycle = new StoreLifecycle(dependencies, this.options);
  }

  /**
   * Resolves when the local state can be read and the log runs, with or without a quorum. Rejects
   * with StoreError `BadDirectory` or `Corrupt`, whose message names cause and remedy.
   */
  start(): Promise<void> {
    return this.lifecycle.start();
  }

  stop(): Promise<void> {
    return this.lifecycle.stop();
  }

  get(key: string, options: ReadOptions): Awaitable<GetResult> {
    try {
      const result = this.lifecycle.reads.get(key, options);
      if (!(result instanceof Promise)) return result;
      return result.catch((error: unknown) => this.failedGet(error));
    } catch (error) {
      return this.failedGet(error);
    }
  }

  private failedGet(error: unknown): Promise<never> {
    return Promise.reject(this.lifecycle.readFailure(error));
  }

  async list(prefix: string, options: ListOptions): Promise<ListResult> {
    try {
      return await this.lifecycle.reads.list(prefix, options);
    } catch (error) {
      throw this.lifecycle.readFailure(error);
    }
  }

  async commit(operations: readonly Operation[], timeoutMs: number): Promise<CommitResult> {
    const { machine } = this.lifecycle.live();
    const { liveBytes, historyBytes } = machine.keys;
    checkCommit(operations, liveBytes + historyBytes, this.options);
    return this.lifecycle.proposer.propose({ kind: 'txn', operations }, timeoutMs);
  }

  watch(options: WatchOptions): WatchHandle {
    return this.lifecycle.watches.open(options, this.lifecycle.live().machine);
  }

  async compact(revision: Revision): Promise<void> {
    const { machine } = this.lifecycle.live();
    if (revision > machine.revision) throw futureRevisionError(revision, machine.revision);
    if (revision <= machine.compactedRevision) return;
    await this.lifecycle.proposer.propose({ kind: 'compact', revision }, compactTimeoutMs);
  }

  revision(): Revision {
    return this.lifecycle.machine?.revision ?? noRevision;
  }

  compactedRevision(): Revision {
    return this.lifecycle.machine?.oldestRevision ?? noRevision;
  }

  revisionBefore(ageMs: number): Revision {
    return this.lifecycle.times.before(this.dependencies.clock.monotonicMs() - ageMs);
  }

  /** Returns a hash that is equal on every replica that has applied the same entries. */
  stateHash(): StateHash {
    const { appliedIndex, revision, hash } = this.lifecycle.live().machine;
    return { appliedIndex, revision, hash: formatHash(hash) };
  }

  /**
   * Hashes everything stored at `revision`, read again: equal on every replica. Waits until the
   * revision is reached. Rejects with `FutureRevision`, or with `Compacted` if it is or becomes too
   * old.
   */
  contentHash(revision: Revision, timeoutMs: number): Promise<ContentHash> {
    const list = (prefix: string, options: ListOptions) => this.list(prefix, options);
    return hashContent(list, this.dependencies.clock, revision, timeoutMs);
  }

  /** Streams the present state, history included, in checked chunks. The caller closes it. */
  openSnapshot(): Promise<OutgoingState> {
    return openOutgoing(this.lifecycle.live());
  }

  status(): StoreStatus {
    const { machine, proposer } = this.lifecycle;
    const storedBytes = machine ? machine.keys.liveBytes + machine.keys.historyBytes : 0;
    const unavailable = this.lifecycle.unavailableReason();
    const reason =
      unavailable ??
      (storedBytes >= this.options.quotaBytes
        ? `the quota of ${this.options.quotaBytes} bytes is used up`
        : undefined);
    return {
      ready: unavailable === undefined && proposer.caughtUp,
      ...(reason === undefined ? {} : { reason }),
      revision: this.revision(),
      compactedRevision: this.compactedRevision(),
      keyCount: machine?.keys.keyCount ?? 0,
      valueBytes: machine?.keys.liveBytes ?? 0,
    };
  }
}

/** Returns a store over the given log; `start` opens it. */
export function createStore(dependencies: StoreDependencies): ReplicatedStore {
  return new ReplicatedStore(dependencies);
}
