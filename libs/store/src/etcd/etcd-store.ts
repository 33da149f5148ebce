/**
 * The versioned store over an external etcd. Memory mirrors the present state from a stream of
 * changes and serves reads, lists and watches; etcd orders commits, stores history and survives
 * failures.
 *
 * Invariants: a quorum read waits until the mirror shows a revision that etcd confirmed after the
 * call; a commit resolves when the mirror shows it, so that watches have its events by then; each
 * watch gets each commit once, whole and in order, whichever server of etcd sent it; a write
 * whose response was lost is `OutcomeUnknown` and never retried.
 */
import type { Logger, LoopClock } from '@orch/component';
import { objectBytesMax } from '../limits.js';
import { checkCommit } from '../proposing/commit-check.js';
import { RevisionTimes } from '../reading/revision-times.js';
import { futureRevisionError } from '../revision-errors.js';
import type { StoreObserver } from '../store-observer.js';
import { defaultStoreOptions } from '../store-options.js';
import {
  type CommitResult,
  type GetResult,
  type ListOptions,
  type ListResult,
  noRevision,
  type Operation,
  type ReadOptions,
  type Revision,
  StoreError,
  type StoreStatus,
  type VersionedStore,
  type WatchHandle,
  type WatchOptions,
} from '../versioned-store.js';
import { Watches } from '../watching/watches.js';
import { EtcdCluster } from './client/etcd-cluster.js';
import type { ResolvedEtcdOptions } from './etcd-options.js';
import { KeyLayout } from './layout/key-layout.js';
import { streamStallMs } from './limits.js';
import type { StreamStep } from './mirror/change-stream.js';
import { CompactedRevision } from './mirror/compacted-revision.js';
import { FatalApplyError, Follower } from './mirror/follower.js';
import { History } from './mirror/history.js';
import { Mirror } from './mirror/mirror.js';
import { MirrorLoader } from './mirror/mirror-loader.js';
import { ReadPositions } from './mirror/read-positions.js';
import { RecentCommits } from './mirror/recent-commits.js';
import { Probe } from './probe.js';
import { Compactor } from './requests/compactor.js';
import { EtcdReader } from './requests/etcd-reader.js';
import { type CommitHooks, EtcdWriter } from './requests/etcd-writer.js';

export interface EtcdStoreDependencies {
  readonly clock: LoopClock;
  readonly logger: Logger;
  /** Uniform in [0, 1); spreads work that many API servers would do at the same time. */
  readonly random: () => number;
  /** Must end the process. Called at most once. */
  readonly onFatal: (error: Error) => void;
  readonly observer?: StoreObserver;
}

/** etcd has its own quota. */
const commitLimits = {
  ...defaultStoreOptions,
  objectBytesMax,
  quotaBytes: Number.POSITIVE_INFINITY,
};

export class EtcdStore implements VersionedStore {
  private readonly cluster: EtcdCluster;
  private readonly reader: EtcdReader;
  private readonly writer: EtcdWriter;
  private readonly mirror: Mirror;
  private readonly loader: MirrorLoader;
  private readonly watches: Watches;
  private readonly follower: Follower;
  private readonly compactor: Compactor;
  private readonly positions: ReadPositions;
  private readonly probe: Probe;
  private readonly times = new RevisionTimes();
  private readonly compacted: CompactedRevision;
  private readonly commitHooks: CommitHooks = {
    shown: (revision, timeoutMs) => this.positions.shown(revision, timeoutMs),
    known: (key, revision) => {
      const entry = this.mirror.get(key);
      return entry?.revision === revision ? entry : undefined;
    },
  };
  private starting: Promise<void> | undefined;
  private stopping: Promise<void> | undefined;
  private ready = false;
  /** Why etcd refused the last commit for lack of space. */
  private full: string | undefined;
  private lost: string | undefined;

  constructor(
    private readonly options: ResolvedEtcdOptions,
    private readonly dependencies: EtcdStoreDependencies,
  ) {
    const { clock, logger, random, observer } = dependencies;
    const layout = new KeyLayout(options.prefix);
    this.cluster = new EtcdCluster(options, clock, logger);
    this.reader = new EtcdReader(this.cluster, layout);
    this.writer = new EtcdWriter(this.cluster, layout, clock, observer);
    this.watches = new Watches({
      clock,
      logger,
      onCorrupt: (error) => this.fatal(error),
      onCompacted: (revision) => this.compacted.note(revision),
    });
    const recent = new RecentCommits(options.recentEventsMax, options.recentBytesMax);
    this.mirror = new Mirror(this.watches, recent, () => clock.nextTurn());
    this.compacted = new CompactedRevision(this.reader, this.mirror);
    this.positions = new ReadPositions(this.reader, this.mirror, clock, observer, {
      expect: (revision) => this.follower.expect(revision),
      wentBack: (error) => this.fatal(error),
    });
    const history = new History(this.cluster, layout, recent, clock);
    this.watches.resume(history, this.mirror.revision);
    this.loader = new MirrorLoader(
      this.reader,
      history,
      this.mirror,
      recent,
      this.compacted,
      clock,
      options.recentEventsMax,
    );
    this.follower = new Follower(this.cluster, layout, clock, logger, random, {
      revision: () => this.mirror.revision,
      apply: (step) => this.apply(step),
      startOver: () => this.startOver(),
      fatal: (error) => this.fatal(error),
    });
    this.compactor = new Compactor(this.cluster, clock, logger, options.compactionIntervalMs, {
      target: () => this.compactionTarget(),
      compacted: (revision) => this.compacted.note(revision),
    });
    this.probe = new Probe(clock, logger, async () => {
      this.follower.expect(await this.positions.newest(streamStallMs));
      this.times.note(clock.monotonicMs(), this.mirror.revision);
    });
  }

  start(): Promise<void> {
    this.starting ??= this.open();
    return this.starting;
  }

  stop(): Promise<void> {
    this.stopping ??= this.close();
    return this.stopping;
  }

  async get(key: string, options: ReadOptions): Promise<GetResult> {
    const revision = await this.position(options);
    const { revision: present } = this.mirror;
    if (revision === undefined || revision === present) {
      return { entry: this.mirror.get(key), revision: present };
    }
    const { timeoutMs } = options;
    const entry = await this.past(revision, timeoutMs, () =>
      this.reader.get(key, revision, timeoutMs),
    );
    return { entry, revision: present };
  }

  async list(prefix: string, options: ListOptions): Promise<ListResult> {
    const { startAfter, limit = Number.POSITIVE_INFINITY, timeoutMs } = options;
    const revision = await this.position(options);
    const range = { prefix, startAfter, limit };
    if (revision === undefined || revision === this.mirror.revision) {
      return this.mirror.list(range);
    }
    return this.past(revision, timeoutMs, () => this.reader.list(range, revision, timeoutMs));
  }

  async commit(operations: readonly Operation[], timeoutMs: number): Promise<CommitResult> {
    this.mustBeOpen();
    checkCommit(operations, 0, commitLimits);
    try {
      const result = await this.writer.commit(operations, timeoutMs, this.commitHooks);
      if (operations.some(({ kind }) => kind === 'put')) this.full = undefined;
      return result;
    } catch (error) {
      if (error instanceof StoreError && error.code === 'NoSpace') this.full = error.message;
      throw error;
    }
  }

  watch(options: WatchOptions): WatchHandle {
    this.mustBeOpen();
    return this.watches.open(options, {
      revision: this.mirror.revision,
      oldestRevision: this.compacted.value,
    });
  }

  async compact(revision: Revision): Promise<void> {
    this.mustBeOpen();
    if (revision > this.mirror.revision) throw futureRevisionError(revision, this.mirror.revision);
    if (revision <= this.compacted.value) return;
    await this.compactor.compact(revision);
  }

  revision(): Revision {
    return this.mirror.revision;
  }

  compactedRevision(): Revision {
    return this.compacted.value;
  }

  revisionBefore(ageMs: number): Revision {
    return this.times.before(this.dependencies.clock.monotonicMs() - ageMs);
  }

  status(): StoreStatus {
    const unready = this.unready();
    const reason = unready ?? this.full;
    return {
      ready: unready === undefined,
      ...(reason === undefined ? {} : { reason }),
      revision: this.mirror.revision,
      compactedRevision: this.compacted.value,
      keyCount: this.mirror.keyCount,
      valueBytes: this.mirror.valueBytes,
    };
  }

  private async open(): Promise<void> {
    const { clock, logger } = this.dependencies;
    const startedMs = clock.monotonicMs();
    await this.loader.load();
    await this.loader.recall();
    this.times.note(clock.monotonicMs(), this.mirror.revision);
    this.follower.start();
    this.compactor.start();
    this.ready = true;
    this.probe.start();
    const { revision, keyCount } = this.mirror;
    const durationMs = Math.round(clock.monotonicMs() - startedMs);
    const { addresses, prefix } = this.options;
    logger.info({ addresses, prefix, revision, keyCount, durationMs }, 'store opened on etcd');
  }

  private async close(): Promise<void> {
    this.probe.stop();
    this.compactor.stop();
    await this.follower.stop();
    this.cluster.close();
    // The caller of `start` gets its error.
    await Promise.allSettled([this.starting]);
    this.ready = false;
    const stopped = new StoreError('Stopped', 'the store is stopped');
    this.positions.stop(stopped);
    this.watches.endAll(stopped);
  }

  /** The change stream has a gap: ends all watches and loads the mirror again. */
  private async startOver(): Promise<void> {
    await this.loader.load();
    const { revision } = this.mirror;
    const message = `changes of etcd were missed up to revision ${revision}: list again`;
    this.watches.endAll(new StoreError('Compacted', message, this.compacted.value));
    this.positions.advance(revision);
  }

  private apply({ commits, revision }: StreamStep): void {
    const { clock, observer } = this.dependencies;
    const startedMs = clock.monotonicMs();
    try {
      this.mirror.apply(commits, revision);
    } catch (error) {
      throw new FatalApplyError(error instanceof Error ? error : new Error(String(error)));
    }
    this.positions.advance(revision);
    const nowMs = clock.monotonicMs();
    this.times.note(nowMs, revision);
    observer?.applied(commits.length, nowMs - startedMs);
  }

  /** Waits for the consistency. Returns the revision to read at; undefined: the present state. */
  private async position({ consistency, timeoutMs }: ReadOptions): Promise<Revision | undefined> {
    this.mustBeOpen();
    const revision = await this.positions.reach(consistency, timeoutMs);
    if (revision !== undefined) this.compacted.check(revision);
    return revision;
  }

  /** Reads a past revision from etcd. */
  private async past<Result>(
    revision: Revision,
    timeoutMs: number,
    read: () => Promise<Result>,
  ): Promise<Result> {
    try {
      return await read();
    } catch (error) {
      if (!(error instanceof StoreError)) throw error;
      if (error.code === 'Corrupt') this.fatal(error);
      if (error.code !== 'Compacted') throw error;
      await this.compacted.learn(this.mirror.revision, timeoutMs);
      throw this.compacted.error(revision);
    }
  }

  private compactionTarget(): Revision {
    const target = this.revisionBefore(this.options.historyRetentionMs);
    return target > this.compacted.value ? target : noRevision;
  }

  private mustBeOpen(): void {
    if (this.stopping) throw new StoreError('Stopped', 'the store is stopped');
    if (!this.ready) throw new StoreError('Unavailable', 'the store is starting');
  }

  private unready(): string | undefined {
    if (this.lost !== undefined) return this.lost;
    if (this.stopping) return 'the store is stopped';
    if (!this.ready) return 'the store is starting';
    return this.probe.failure;
  }

  private fatal(error: Error): void {
    if (this.lost !== undefined) return;
    this.lost = error.message;
    this.dependencies.logger.fatal({ error }, 'the store cannot continue');
    this.dependencies.onFatal(error);
  }
}
