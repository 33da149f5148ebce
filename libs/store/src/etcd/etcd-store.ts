/**
 * The versioned store over an external etcd. The present state is mirrored in memory from a stream of
 * changes, so that reads, lists and watches are answered here; etcd orders commits, keeps history and
 * survives failures.
 *
 * Invariants: a quorum read waits until the mirror shows what etcd stood at after the call; a commit is
 * answered once the mirror shows it, so that watches have its events by then; each watch gets each commit
 * once, whole and in order, whichever server of etcd it came from; a write whose answer was lost is
 * `OutcomeUnknown` and never repeated.
 */
import type { Logger, LoopClock } from '@orch/component';
import { WatchHub } from '../core/watch-hub.js';
import { OBJECT_BYTES_MAX } from '../limits.js';
import { checkCommit } from '../shell/commit-check.js';
import { RevisionTimes } from '../shell/revision-times.js';
import type { StoreObserver } from '../store-observer.js';
import { DEFAULT_STORE_OPTIONS } from '../store-options.js';
import {
  type CommitResult,
  type GetResult,
  type ListOptions,
  type ListResult,
  type Operation,
  type ReadOptions,
  type Revision,
  StoreError,
  type StoreStatus,
  type VersionedStore,
  type WatchHandle,
  type WatchOptions,
} from '../versioned-store.js';
import type { StreamStep } from './change-stream.js';
import { CompactedRevision } from './compacted-revision.js';
import { Compactor } from './compactor.js';
import { EtcdCluster } from './etcd-cluster.js';
import type { ResolvedEtcdOptions } from './etcd-options.js';
import { EtcdReader } from './etcd-reader.js';
import { EtcdWatches } from './etcd-watches.js';
import { type CommitHooks, EtcdWriter } from './etcd-writer.js';
import { FatalApplyError, Follower } from './follower.js';
import { History } from './history.js';
import { KeyLayout } from './key-layout.js';
import { STREAM_STALL_MS } from './limits.js';
import { Mirror } from './mirror.js';
import { MirrorLoader } from './mirror-loader.js';
import { Probe } from './probe.js';
import { future, ReadPositions } from './read-positions.js';
import { RecentCommits } from './recent-commits.js';
import { WatchCatchUp } from './watch-catch-up.js';

export interface EtcdStoreDependencies {
  readonly clock: LoopClock;
  readonly logger: Logger;
  /** Uniform in [0, 1); spreads what many API servers would do at the same moment. */
  readonly random: () => number;
  /** Must end the process. Called at most once. */
  readonly onFatal: (error: Error) => void;
  readonly observer?: StoreObserver;
}

/** etcd has quotas of its own. */
const COMMIT_LIMITS = {
  ...DEFAULT_STORE_OPTIONS,
  objectBytesMax: OBJECT_BYTES_MAX,
  quotaBytes: Number.POSITIVE_INFINITY,
};

export class EtcdStore implements VersionedStore {
  readonly #cluster: EtcdCluster;
  readonly #reader: EtcdReader;
  readonly #writer: EtcdWriter;
  readonly #mirror: Mirror;
  readonly #loader: MirrorLoader;
  readonly #watches: EtcdWatches;
  readonly #follower: Follower;
  readonly #compactor: Compactor;
  readonly #positions: ReadPositions;
  readonly #probe: Probe;
  readonly #times = new RevisionTimes();
  readonly #compacted: CompactedRevision;
  readonly #commitHooks: CommitHooks = {
    shown: (revision, timeoutMs) => this.#positions.shown(revision, timeoutMs),
    known: (key, revision) => {
      const entry = this.#mirror.get(key);
      return entry?.revision === revision ? entry : undefined;
    },
  };
  #starting: Promise<void> | undefined;
  #stopping: Promise<void> | undefined;
  #ready = false;
  /** Why etcd takes no writes that need room, as of the last commit. */
  #full: string | undefined;
  #lost: string | undefined;

  constructor(
    private readonly options: ResolvedEtcdOptions,
    private readonly dependencies: EtcdStoreDependencies,
  ) {
    const { clock, logger, random, observer } = dependencies;
    const layout = new KeyLayout(options.prefix);
    this.#cluster = new EtcdCluster(options, clock, logger);
    this.#reader = new EtcdReader(this.#cluster, layout);
    this.#writer = new EtcdWriter(this.#cluster, layout, clock, observer);
    const hub = new WatchHub();
    const recent = new RecentCommits(options.recentEventsMax, options.recentBytesMax);
    this.#mirror = new Mirror(hub, recent, () => clock.nextTurn());
    this.#compacted = new CompactedRevision(this.#reader, this.#mirror);
    this.#positions = new ReadPositions(this.#reader, this.#mirror, clock, observer, {
      expect: (revision) => this.#follower.expect(revision),
      wentBack: (error) => this.#fatal(error),
    });
    const history = new History(this.#cluster, layout, clock);
    const catchUp = new WatchCatchUp(hub, recent, history, clock, (watch, error) =>
      this.#watches.failed(watch, error),
    );
    this.#watches = new EtcdWatches(hub, catchUp, this.#compacted, logger, (error) =>
      this.#fatal(error),
    );
    this.#loader = new MirrorLoader(
      this.#reader,
      history,
      this.#mirror,
      recent,
      this.#compacted,
      clock,
      options.recentEventsMax,
    );
    this.#follower = new Follower(this.#cluster, layout, clock, logger, random, {
      revision: () => this.#mirror.revision,
      apply: (step) => this.#apply(step),
      startOver: () => this.#startOver(),
      fatal: (error) => this.#fatal(error),
    });
    this.#compactor = new Compactor(this.#cluster, clock, logger, options.compactionIntervalMs, {
      target: () => this.#compactionTarget(),
      compacted: (revision) => this.#compacted.note(revision),
    });
    this.#probe = new Probe(clock, logger, async () => {
      this.#follower.expect(await this.#positions.newest(STREAM_STALL_MS));
      this.#times.note(clock.monotonicMs(), this.#mirror.revision);
    });
  }

  start(): Promise<void> {
    this.#starting ??= this.#start();
    return this.#starting;
  }

  stop(): Promise<void> {
    this.#stopping ??= this.#stop();
    return this.#stopping;
  }

  async get(key: string, options: ReadOptions): Promise<GetResult> {
    const revision = await this.#position(options);
    const { revision: present } = this.#mirror;
    if (revision === undefined || revision === present) {
      return { entry: this.#mirror.get(key), revision: present };
    }
    const { timeoutMs } = options;
    const entry = await this.#past(revision, timeoutMs, () =>
      this.#reader.get(key, revision, timeoutMs),
    );
    return { entry, revision: present };
  }

  async list(prefix: string, options: ListOptions): Promise<ListResult> {
    const { startAfter, limit = Number.POSITIVE_INFINITY, timeoutMs } = options;
    const revision = await this.#position(options);
    const range = { prefix, startAfter, limit };
    if (revision === undefined || revision === this.#mirror.revision) {
      return this.#mirror.list(range);
    }
    return this.#past(revision, timeoutMs, () => this.#reader.list(range, revision, timeoutMs));
  }

  async commit(operations: readonly Operation[], timeoutMs: number): Promise<CommitResult> {
    this.#mustBeOpen();
    checkCommit(operations, 0, COMMIT_LIMITS);
    try {
      const result = await this.#writer.commit(operations, timeoutMs, this.#commitHooks);
      if (operations.some(({ kind }) => kind === 'put')) this.#full = undefined;
      return result;
    } catch (error) {
      if (error instanceof StoreError && error.code === 'NoSpace') this.#full = error.message;
      throw error;
    }
  }

  watch(options: WatchOptions): WatchHandle {
    this.#mustBeOpen();
    return this.#watches.open(options, this.#mirror.revision);
  }

  async compact(revision: Revision): Promise<void> {
    this.#mustBeOpen();
    if (revision > this.#mirror.revision) throw future(revision, this.#mirror.revision);
    if (revision <= this.#compacted.value) return;
    await this.#compactor.compact(revision);
  }

  revision(): Revision {
    return this.#mirror.revision;
  }

  revisionBefore(ageMs: number): Revision {
    return this.#times.before(this.dependencies.clock.monotonicMs() - ageMs);
  }

  status(): StoreStatus {
    const unready = this.#unready();
    const reason = unready ?? this.#full;
    return {
      ready: unready === undefined,
      ...(reason === undefined ? {} : { reason }),
      revision: this.#mirror.revision,
      compactedRevision: this.#compacted.value,
      keyCount: this.#mirror.keyCount,
      valueBytes: this.#mirror.valueBytes,
    };
  }

  async #start(): Promise<void> {
    const { clock, logger } = this.dependencies;
    const startedMs = clock.monotonicMs();
    await this.#loader.load();
    await this.#loader.recall();
    this.#times.note(clock.monotonicMs(), this.#mirror.revision);
    this.#follower.start();
    this.#compactor.start();
    this.#ready = true;
    this.#probe.start();
    const { revision, keyCount } = this.#mirror;
    const durationMs = Math.round(clock.monotonicMs() - startedMs);
    const { addresses, prefix } = this.options;
    logger.info({ addresses, prefix, revision, keyCount, durationMs }, 'store opened on etcd');
  }

  async #stop(): Promise<void> {
    this.#probe.stop();
    this.#compactor.stop();
    await this.#follower.stop();
    this.#cluster.close();
    // Its failure is told to whoever called `start`.
    await Promise.allSettled([this.#starting]);
    this.#ready = false;
    const stopped = new StoreError('Stopped', 'the store is stopped');
    this.#positions.stop(stopped);
    this.#watches.endAll(stopped);
  }

  /** The stream of changes has a gap: watches have to begin anew, and so does the mirror. */
  async #startOver(): Promise<void> {
    await this.#loader.load();
    const { revision } = this.#mirror;
    const message = `changes of etcd were missed, what there is now is of revision ${revision}`;
    this.#watches.endAll(new StoreError('Compacted', message, this.#compacted.value));
    this.#positions.advance(revision);
  }

  #apply({ commits, revision }: StreamStep): void {
    const { clock, observer } = this.dependencies;
    const startedMs = clock.monotonicMs();
    try {
      this.#mirror.apply(commits, revision as Revision, (watch, error) =>
        this.#watches.failed(watch, error),
      );
    } catch (error) {
      throw new FatalApplyError(error instanceof Error ? error : new Error(String(error)));
    }
    this.#positions.advance(revision);
    const nowMs = clock.monotonicMs();
    this.#times.note(nowMs, revision as Revision);
    observer?.applied(commits.length, nowMs - startedMs);
  }

  /** Waits as the consistency asks; a number: read as of that revision, else the present. */
  async #position({ consistency, timeoutMs }: ReadOptions): Promise<Revision | undefined> {
    this.#mustBeOpen();
    const revision = await this.#positions.reach(consistency, timeoutMs);
    if (revision !== undefined) this.#compacted.check(revision);
    return revision;
  }

  /** A read that etcd answers. */
  async #past<Result>(
    revision: Revision,
    timeoutMs: number,
    read: () => Promise<Result>,
  ): Promise<Result> {
    try {
      return await read();
    } catch (error) {
      if (!(error instanceof StoreError)) throw error;
      if (error.code === 'Corrupt') this.#fatal(error);
      if (error.code !== 'Compacted') throw error;
      await this.#compacted.learn(this.#mirror.revision, timeoutMs);
      throw this.#compacted.error(revision);
    }
  }

  #compactionTarget(): Revision {
    const target = this.revisionBefore(this.options.historyRetentionMs);
    return target > this.#compacted.value ? target : (0 as Revision);
  }

  #mustBeOpen(): void {
    if (this.#stopping) throw new StoreError('Stopped', 'the store is stopped');
    if (!this.#ready) throw new StoreError('Unavailable', 'the store is starting');
  }

  #unready(): string | undefined {
    if (this.#lost !== undefined) return this.#lost;
    if (this.#stopping) return 'the store is stopped';
    if (!this.#ready) return 'the store is starting';
    return this.#probe.failure;
  }

  #fatal(error: Error): void {
    if (this.#lost !== undefined) return;
    this.#lost = error.message;
    this.dependencies.logger.fatal({ error }, 'the store cannot go on');
    this.dependencies.onFatal(error);
  }
}
