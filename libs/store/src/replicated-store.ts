/**
 * The versioned store over a replicated log: the I/O shell around the pure state machine.
 *
 * Invariants: memory is authoritative and changes only by applying the log in order, or as a whole by
 * an installed snapshot; a commit is answered from its own applied command; every watch gets each
 * commit once, whole and in order; what cannot be trusted any more (a damaged record, a failed write,
 * a state unlike the others') ends the process by `onFatal`.
 */
import type { Logger, LoopClock } from '@orch/component';
import type { Disk, ReplicatedLog } from '@orch/raft';
import { checkCommit } from './shell/commit-check.js';
import { type ContentHash, hashContent } from './shell/content-hash.js';
import { hex } from './shell/hash-audit.js';
import { StoreLifecycle } from './shell/store-lifecycle.js';
import { future } from './shell/watches.js';
import { type OutgoingState, openOutgoing } from './snapshot/outgoing.js';
import type { StoreObserver } from './store-observer.js';
import { resolveStoreOptions, type StoreOptions } from './store-options.js';
import {
  type CommitResult,
  type GetResult,
  type ListOptions,
  type ListResult,
  type Operation,
  type ReadOptions,
  type Revision,
  type StoreStatus,
  type VersionedStore,
  type WatchHandle,
  type WatchOptions,
} from './versioned-store.js';

export interface StoreDependencies {
  /** The state database's own directory; created when absent. `<directory>.incoming` is used, too. */
  readonly directory: string;
  readonly disk: Disk;
  readonly log: ReplicatedLog;
  readonly clock: LoopClock;
  /** Uniform in [0, 1). */
  readonly random: () => number;
  readonly logger: Logger;
  /** Must end the process. Called at most once. */
  readonly onFatal: (error: Error) => void;
  readonly options?: Partial<StoreOptions>;
  readonly observer?: StoreObserver;
}

const COMPACT_TIMEOUT_MS = 30_000;

export interface StateHash {
  readonly appliedIndex: number;
  readonly revision: Revision;
  readonly hash: string;
}

export class ReplicatedStore implements VersionedStore {
  readonly #options: StoreOptions;
  readonly #lifecycle: StoreLifecycle;

  constructor(private readonly dependencies: StoreDependencies) {
    this.#options = resolveStoreOptions(dependencies.options);
    this.#lifecycle = new StoreLifecycle(dependencies, this.#options);
  }

  /**
   * Resolves when the local state can be read and the log runs, with or without a quorum. Rejects with
   * StoreError `BadDirectory` or `Corrupt`, whose message names cause and cure.
   */
  start(): Promise<void> {
    return this.#lifecycle.start();
  }

  stop(): Promise<void> {
    return this.#lifecycle.stop();
  }

  async get(key: string, options: ReadOptions): Promise<GetResult> {
    try {
      return await this.#lifecycle.reads.get(key, options);
    } catch (error) {
      throw this.#lifecycle.readFailure(error);
    }
  }

  async list(prefix: string, options: ListOptions): Promise<ListResult> {
    try {
      return await this.#lifecycle.reads.list(prefix, options);
    } catch (error) {
      throw this.#lifecycle.readFailure(error);
    }
  }

  async commit(operations: readonly Operation[], timeoutMs: number): Promise<CommitResult> {
    const { machine } = this.#lifecycle.live();
    const { liveBytes, historyBytes } = machine.keys;
    checkCommit(operations, liveBytes + historyBytes, this.#options);
    return this.#lifecycle.proposer.propose({ kind: 'txn', operations }, timeoutMs);
  }

  watch(options: WatchOptions): WatchHandle {
    return this.#lifecycle.watches.open(options, this.#lifecycle.live());
  }

  async compact(revision: Revision): Promise<void> {
    const { machine } = this.#lifecycle.live();
    if (revision > machine.revision) throw future(revision, machine.revision);
    if (revision <= machine.compactedRevision) return;
    await this.#lifecycle.proposer.propose({ kind: 'compact', revision }, COMPACT_TIMEOUT_MS);
  }

  revision(): Revision {
    return this.#lifecycle.machine?.revision ?? (0 as Revision);
  }

  revisionBefore(ageMs: number): Revision {
    return this.#lifecycle.times.before(this.dependencies.clock.monotonicMs() - ageMs);
  }

  /** Equal on every replica that has applied the same entries. */
  stateHash(): StateHash {
    const { appliedIndex, revision, hash } = this.#lifecycle.live().machine;
    return { appliedIndex, revision, hash: hex(hash) };
  }

  /**
   * Over everything stored at `revision`, read anew: equal on every replica. Waits until the revision is
   * reached. Rejects with `FutureRevision`, or `Compacted` when it is (or meanwhile becomes) too old.
   */
  contentHash(revision: Revision, timeoutMs: number): Promise<ContentHash> {
    const list = (prefix: string, options: ListOptions) => this.list(prefix, options);
    return hashContent(list, this.dependencies.clock, revision, timeoutMs);
  }

  /** The state of now, history included, as a stream of checked chunks. To be closed. */
  openSnapshot(): Promise<OutgoingState> {
    return openOutgoing(this.#lifecycle.live());
  }

  status(): StoreStatus {
    const { machine, proposer } = this.#lifecycle;
    const storedBytes = machine ? machine.keys.liveBytes + machine.keys.historyBytes : 0;
    const unavailable = this.#lifecycle.unavailableReason();
    const reason =
      unavailable ??
      (storedBytes >= this.#options.quotaBytes
        ? `the quota of ${this.#options.quotaBytes} bytes is used up`
        : undefined);
    return {
      ready: unavailable === undefined && proposer.caughtUp,
      ...(reason === undefined ? {} : { reason }),
      revision: this.revision(),
      compactedRevision: machine?.oldestRevision ?? (0 as Revision),
      keyCount: machine?.keys.keyCount ?? 0,
      valueBytes: machine?.keys.liveBytes ?? 0,
    };
  }
}

/** A store over the given log. `start` opens it. */
export function createStore(dependencies: StoreDependencies): ReplicatedStore {
  return new ReplicatedStore(dependencies);
}
