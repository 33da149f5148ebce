/**
 * The versioned store over a replicated log: the I/O shell around the pure state machine.
 *
 * Invariants: memory is authoritative and changes only by applying the log in order; a commit is
 * answered from its own applied command; every watch gets each commit once, whole and in order;
 * what cannot be trusted any more (a damaged record, a failed write) ends the process by `onFatal`.
 */
import type { Clock, Logger } from '@orch/component';
import type { CommittedEntry, LogIndex, ReplicatedLog } from '@orch/raft';
import type { StoreEvent } from './core/event-ring.js';
import { type Applied, StateMachine } from './core/state-machine.js';
import { Watch, WatchHub } from './core/watch-hub.js';
import { SWEEP_SLICE_VERSIONS, WATCHES_MAX } from './limits.js';
import { CatchUp, compacted } from './shell/catch-up.js';
import { Checkpointer } from './shell/checkpointer.js';
import { checkCommit } from './shell/commit-check.js';
import { Lister } from './shell/lister.js';
import { Maintenance } from './shell/maintenance.js';
import { ProgressWaiters } from './shell/progress-waiters.js';
import { Proposer } from './shell/proposer.js';
import { ReadBarrier } from './shell/read-barrier.js';
import { restoreState } from './shell/recovery.js';
import { RevisionTimes } from './shell/revision-times.js';
import { asStoreError, StateDatabase } from './shell/state-database.js';
import { StateWriter } from './shell/state-writer.js';
import { nextTurn } from './shell/turns.js';
import { VersionReader } from './shell/version-reader.js';
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
  StoreError,
  type StoreStatus,
  type VersionedStore,
  type WatchHandle,
  type WatchOptions,
} from './versioned-store.js';

export interface StoreDependencies {
  /** The state database's own directory; created when absent. */
  readonly directory: string;
  readonly log: ReplicatedLog;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Must end the process. Called at most once. */
  readonly onFatal: (error: Error) => void;
  readonly options?: Partial<StoreOptions>;
  readonly observer?: StoreObserver;
}

const COMPACT_TIMEOUT_MS = 30_000;

/** What exists only while the store is open. */
interface Opened {
  readonly database: StateDatabase;
  readonly writer: StateWriter;
  readonly checkpointer: Checkpointer;
  readonly reader: VersionReader;
  readonly lister: Lister;
  readonly catchUp: CatchUp;
  readonly maintenance: Maintenance;
}

export class ReplicatedStore implements VersionedStore {
  readonly #options: StoreOptions;
  readonly #machine: StateMachine;
  readonly #hub = new WatchHub();
  readonly #watches = new Set<Watch>();
  readonly #proposer: Proposer;
  readonly #barrier: ReadBarrier;
  readonly #appliedWaiters: ProgressWaiters;
  readonly #revisionWaiters: ProgressWaiters;
  readonly #times = new RevisionTimes();
  #opened: Opened | undefined;
  #ready = false;
  #sweeping: Promise<void> | undefined;
  #starting: Promise<void> | undefined;
  #stopping: Promise<void> | undefined;
  #lost: string | undefined;

  constructor(private readonly dependencies: StoreDependencies) {
    const { log, clock, observer } = dependencies;
    this.#options = resolveStoreOptions(dependencies.options);
    this.#machine = new StateMachine(this.#options.ringEventsMax, this.#options.ringBytesMax);
    this.#proposer = new Proposer(log, clock, observer, this.#options.pendingCommitsMax);
    this.#barrier = new ReadBarrier(log, clock, observer);
    this.#appliedWaiters = new ProgressWaiters(clock);
    this.#revisionWaiters = new ProgressWaiters(clock);
  }

  start(): Promise<void> {
    this.#starting ??= this.#start();
    return this.#starting;
  }

  stop(): Promise<void> {
    this.#stopping ??= this.#stop();
    return this.#stopping;
  }

  async get(key: string, { consistency, timeoutMs }: ReadOptions): Promise<GetResult> {
    const revision = await this.#position(consistency, timeoutMs);
    const machine = this.#machine;
    if (revision === undefined) {
      return { entry: machine.keys.get(key), revision: machine.revision };
    }
    try {
      return { entry: this.#open().reader.at(key, revision), revision: machine.revision };
    } catch (error) {
      throw this.#readFailure(error);
    }
  }

  async list(prefix: string, options: ListOptions): Promise<ListResult> {
    const { startAfter, limit = Number.POSITIVE_INFINITY } = options;
    const revision = await this.#position(options.consistency, options.timeoutMs);
    const range = { prefix, startAfter, limit };
    const { lister } = this.#open();
    try {
      return await (revision === undefined ? lister.latest(range) : lister.at(range, revision));
    } catch (error) {
      throw this.#readFailure(error);
    }
  }

  async commit(operations: readonly Operation[], timeoutMs: number): Promise<CommitResult> {
    this.#open();
    const { liveBytes, historyBytes } = this.#machine.keys;
    checkCommit(operations, liveBytes + historyBytes, this.#options);
    return this.#proposer.propose({ kind: 'txn', operations }, timeoutMs);
  }

  watch(options: WatchOptions): WatchHandle {
    const { catchUp } = this.#open();
    const { revision, compactedRevision } = this.#machine;
    const { afterRevision } = options;
    if (afterRevision > revision) throw future(afterRevision, revision);
    if (afterRevision < compactedRevision) throw compacted(afterRevision, compactedRevision);
    if (this.#watches.size >= WATCHES_MAX) {
      throw new StoreError('Overloaded', `${this.#watches.size} watches are open`);
    }
    const watch = new Watch(options, (closed) => {
      this.#watches.delete(closed);
      catchUp.remove(closed);
    });
    this.#watches.add(watch);
    if (afterRevision === this.#hub.revision) this.#hub.join(watch);
    else catchUp.add(watch);
    return watch;
  }

  async compact(revision: Revision): Promise<void> {
    this.#open();
    if (revision > this.#machine.revision) throw future(revision, this.#machine.revision);
    if (revision <= this.#machine.compactedRevision) return;
    await this.#proposer.propose({ kind: 'compact', revision }, COMPACT_TIMEOUT_MS);
  }

  revision(): Revision {
    return this.#machine.revision;
  }

  revisionBefore(ageMs: number): Revision {
    return this.#times.before(this.dependencies.clock.monotonicMs() - ageMs);
  }

  /** Equal on every replica that has applied the same entries. */
  stateHash(): {
    readonly appliedIndex: number;
    readonly revision: Revision;
    readonly hash: string;
  } {
    const { appliedIndex, revision, hash } = this.#machine;
    return { appliedIndex, revision, hash: hash.toString(16).padStart(8, '0') };
  }

  status(): StoreStatus {
    const { revision, compactedRevision, keys } = this.#machine;
    const reason = this.#reason(keys.liveBytes + keys.historyBytes);
    return {
      ready: this.#ready && this.#lost === undefined,
      ...(reason === undefined ? {} : { reason }),
      revision,
      compactedRevision,
      keyCount: keys.keyCount,
      valueBytes: keys.liveBytes,
    };
  }

  async #start(): Promise<void> {
    const { directory, log, clock, logger, observer } = this.dependencies;
    const startedMs = clock.monotonicMs();
    const machine = this.#machine;
    const database = await StateDatabase.open(directory);
    try {
      await restoreState(machine, database);
      this.#hub.revision = machine.revision;
      const opened = this.#compose(database, observer);
      this.#opened = opened;
      this.#sweep();
      await log.start(machine.appliedIndex as LogIndex, (entries) => this.#apply(entries));
      this.#times.note(clock.monotonicMs(), machine.revision);
      opened.maintenance.start();
    } catch (error) {
      this.#lost = 'starting failed';
      await this.#sweeping;
      await this.#opened?.writer.drained();
      await this.#opened?.checkpointer.stop();
      await database.close();
      throw asStoreError(error);
    }
    this.#ready = true;
    const { revision, keys } = machine;
    const durationMs = Math.round(clock.monotonicMs() - startedMs);
    logger.info({ directory, revision, keyCount: keys.keyCount, durationMs }, 'store opened');
  }

  #compose(database: StateDatabase, observer: StoreObserver | undefined): Opened {
    const { log, clock, logger } = this.dependencies;
    const machine = this.#machine;
    const fatal = (error: Error) => this.#fatal(error);
    const reader = new VersionReader(machine, database);
    const checkpointer = new Checkpointer(
      database,
      log,
      clock,
      this.#options,
      fatal,
      observer,
      machine.appliedIndex,
    );
    const written: ConstructorParameters<typeof StateWriter>[3] = (facts, byteCount) => {
      machine.ring.persisted(facts.revision);
      if (this.#ready) checkpointer.written(facts, byteCount);
    };
    const failed = (watch: Watch, error: unknown) => this.#watchFailed(watch, error);
    return {
      database,
      reader,
      checkpointer,
      writer: new StateWriter(database, clock, machine.facts, written, fatal, observer),
      lister: new Lister(machine, reader),
      catchUp: new CatchUp(machine, this.#hub, database, reader, failed),
      maintenance: new Maintenance(
        machine,
        this.#times,
        this.#proposer,
        log,
        clock,
        logger,
        this.#options,
      ),
    };
  }

  async #stop(): Promise<void> {
    // Its failure is told to whoever called `start`.
    await Promise.allSettled([this.#starting]);
    this.#ready = false;
    const opened = this.#opened;
    opened?.maintenance.stop();
    await opened?.checkpointer.stop();
    await this.dependencies.log.stop();
    this.#opened = undefined;
    this.#proposer.stop();
    const stopped = new StoreError('Stopped', 'the store is stopped');
    this.#appliedWaiters.rejectAll(stopped);
    this.#revisionWaiters.rejectAll(stopped);
    for (const watch of [...this.#watches]) watch.end(stopped);
    if (!opened) return;
    await this.#sweeping;
    await opened.writer.drained();
    await opened.database.close();
  }

  #apply(entries: readonly CommittedEntry[]): Promise<void> | undefined {
    const { clock, observer } = this.dependencies;
    const startedMs = clock.monotonicMs();
    const machine = this.#machine;
    const compactedBefore = machine.compactedRevision;
    const settled: Applied[] = [];
    const events: StoreEvent[] = [];
    for (const { index, command } of entries) {
      const applied = machine.apply(index, command);
      if (!applied) continue;
      settled.push(applied);
      this.#hub.collect(applied.events);
      for (const event of applied.events) events.push(event);
    }
    const { writer } = this.#opened ?? this.#broken();
    writer.enqueue(machine.facts, events, [], machine.takeProposerChanges());
    this.#hub.flush(machine.revision, (watch, error) => this.#watchFailed(watch, error));
    for (const applied of settled) this.#proposer.settle(applied);
    this.#appliedWaiters.advance(machine.appliedIndex);
    this.#revisionWaiters.advance(machine.revision);
    const nowMs = clock.monotonicMs();
    this.#times.note(nowMs, machine.revision);
    if (machine.compactedRevision > compactedBefore) this.#sweep();
    observer?.applied(entries.length, nowMs - startedMs);
    return writer.room();
  }

  /** Drops what compaction has freed, in slices. */
  #sweep(): void {
    this.#sweeping ??= this.#runSweep().finally(() => {
      this.#sweeping = undefined;
    });
  }

  async #runSweep(): Promise<void> {
    const machine = this.#machine;
    for (;;) {
      await nextTurn();
      const writer = this.#opened?.writer;
      if (!writer || this.#lost !== undefined) return;
      const drops = machine.keys.sweep(machine.compactedRevision, SWEEP_SLICE_VERSIONS);
      if (drops.length === 0) return;
      writer.enqueue(machine.facts, [], drops, new Map());
      await writer.room();
    }
  }

  /** Waits as the consistency asks; a number: read as of that revision, else the present. */
  async #position(
    consistency: ReadOptions['consistency'],
    timeoutMs: number,
  ): Promise<Revision | undefined> {
    this.#open();
    const machine = this.#machine;
    if (consistency.kind === 'any') return undefined;
    if (consistency.kind === 'quorum') {
      const index = await this.#barrier.pass(timeoutMs);
      if (index > machine.appliedIndex) {
        await this.#appliedWaiters.wait(
          index,
          timeoutMs,
          () =>
            new StoreError('Unavailable', 'this replica is too far behind for a consistent read'),
        );
      }
      return undefined;
    }
    const { revision } = consistency;
    if (revision > machine.revision) {
      await this.#revisionWaiters.wait(revision, timeoutMs, () =>
        future(revision, this.revision()),
      );
    }
    if (consistency.kind === 'notOlderThan') return undefined;
    if (revision < machine.compactedRevision) throw compacted(revision, machine.compactedRevision);
    return revision;
  }

  #open(): Opened {
    if (this.#stopping) throw new StoreError('Stopped', 'the store is stopped');
    if (!this.#opened || !this.#ready) {
      throw new StoreError('Unavailable', 'the store is starting');
    }
    return this.#opened;
  }

  #broken(): never {
    throw new Error('invariant broken: the log delivers to a store that is not open');
  }

  #reason(storedBytes: number): string | undefined {
    if (this.#lost !== undefined) return this.#lost;
    if (this.#stopping) return 'the store is stopped';
    if (!this.#ready) return 'the store is starting';
    if (storedBytes >= this.#options.quotaBytes) {
      return `the quota of ${this.#options.quotaBytes} bytes is used up`;
    }
    return this.dependencies.log.status().unavailableReason;
  }

  /** A damaged record is never served, and what else is damaged is unknown. */
  #readFailure(error: unknown): unknown {
    if (error instanceof StoreError && error.code === 'Corrupt') this.#fatal(error);
    return error;
  }

  #watchFailed(watch: Watch, error: unknown): void {
    if (error instanceof StoreError && error.code === 'Corrupt') this.#fatal(error);
    else if (!this.#stopping) {
      this.dependencies.logger.error({ error, prefix: watch.options.prefix }, 'watch failed');
    }
    watch.end(
      error instanceof StoreError ? error : new StoreError('Unavailable', 'the watch failed'),
    );
  }

  #fatal(error: Error): void {
    if (this.#lost !== undefined) return;
    this.#lost = error.message;
    this.dependencies.logger.fatal({ error }, 'the store cannot go on');
    this.dependencies.onFatal(error);
  }
}

/** A store over the given log. `start` opens it. */
export function createStore(dependencies: StoreDependencies): ReplicatedStore {
  return new ReplicatedStore(dependencies);
}

function future(asked: Revision, known: Revision): StoreError {
  return new StoreError('FutureRevision', `revision ${asked} is ahead of ${known}`, known);
}
