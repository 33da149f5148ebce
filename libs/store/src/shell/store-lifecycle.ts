/**
 * The parts of the store and their life: start, the log's calls, the change of state by a snapshot,
 * stop, and the end when something cannot be trusted any more.
 */
import { type CommittedEntry, LogError, type LogHandlers, type ReplicatedLog } from '@orch/raft';
import type { StateMachine } from '../core/state-machine.js';
import type { StoreDependencies } from '../replicated-store.js';
import { incomingDirectory, StateSnapshots } from '../snapshot/state-snapshots.js';
import type { StoreOptions } from '../store-options.js';
import { StoreError } from '../versioned-store.js';
import { Applier } from './applier.js';
import { divergedError, HashAudit } from './hash-audit.js';
import { closeLiveState, type LiveState, liveState } from './live-state.js';
import { Maintenance } from './maintenance.js';
import { Proposer } from './proposer.js';
import { Reads } from './reads.js';
import { RevisionTimes } from './revision-times.js';
import { asStoreError, type StateDatabase } from './state-database.js';
import { openState, type UnusableState } from './state-opening.js';
import { StoreTime } from './store-time.js';
import { Sweeper } from './sweeper.js';
import { Watches } from './watches.js';

export class StoreLifecycle {
  readonly times = new RevisionTimes();
  readonly proposer: Proposer;
  readonly reads: Reads;
  readonly watches: Watches;
  readonly #sweeper: Sweeper;
  readonly #maintenance: Maintenance;
  readonly #applier: Applier;
  readonly #snapshots: StateSnapshots;
  #live: LiveState | undefined;
  /** A snapshot is taking the place of `#live`, which can be read from memory only. */
  #replacing = false;
  #phase: 'new' | 'starting' | 'running' | 'stopping' = 'new';
  #starting: Promise<void> | undefined;
  #stopping: Promise<void> | undefined;
  #lost: string | undefined;

  constructor(
    private readonly dependencies: StoreDependencies,
    private readonly options: StoreOptions,
  ) {
    const { log, clock, random, logger, observer } = dependencies;
    const time = new StoreTime(clock);
    const proposer = new Proposer(log, clock, time, random, observer, options.pendingCommitsMax);
    const watches = new Watches(clock, logger, (error) => this.fatal(error));
    const reads = new Reads(log, clock, observer, () => this.live());
    const interval = options.hashIntervalEntries;
    const audit = new HashAudit(log, proposer, clock, logger, interval, (message) => {
      void this.#diverged(message);
    });
    const sweeper = new Sweeper(clock, () => this.#writable());
    const { times } = this;
    const parts = { clock, observer, watches, proposer, reads, times, time, audit, sweeper };
    this.proposer = proposer;
    this.reads = reads;
    this.watches = watches;
    this.#sweeper = sweeper;
    this.#applier = new Applier(parts);
    this.#maintenance = new Maintenance(
      () => this.#writable()?.machine,
      { ...parts, log, logger },
      options,
    );
    this.#snapshots = new StateSnapshots(
      { ...dependencies, options },
      {
        live: () => this.#writable(),
        suspend: () => this.#suspend(),
        replace: (machine, database) => this.#replace(machine, database),
      },
    );
  }

  get machine(): StateMachine | undefined {
    return this.#live?.machine;
  }

  /** The state in use. Throws StoreError `Stopped` or `Unavailable`. */
  live(): LiveState {
    if (this.#stopping) throw new StoreError('Stopped', 'the store is stopped');
    if (this.#live && this.#phase === 'running') return this.#live;
    throw new StoreError('Unavailable', this.unavailableReason() ?? 'the store is starting');
  }

  /** Why not everything works, in words for an operator. */
  unavailableReason(): string | undefined {
    if (this.#lost !== undefined) return this.#lost;
    if (this.#stopping) return 'the store is stopped';
    if (this.#phase !== 'running') return 'the store is starting';
    const reason = this.dependencies.log.status().unavailableReason;
    if (reason !== undefined) return reason;
    if (!this.#live) return 'the state was unusable, a new one is awaited from the leader';
    return this.proposer.caughtUp ? undefined : 'the state is being brought up to date';
  }

  start(): Promise<void> {
    this.#starting ??= this.#start();
    return this.#starting;
  }

  stop(): Promise<void> {
    this.#stopping ??= this.#stop();
    return this.#stopping;
  }

  /** A damaged record is never served, and what else is damaged is unknown. */
  readFailure(error: unknown): unknown {
    if (error instanceof StoreError && error.code === 'Corrupt') this.fatal(error);
    return error;
  }

  fatal(error: Error): void {
    if (this.#lost !== undefined) return;
    this.#lost = error.message;
    this.dependencies.logger.fatal({ error }, 'the store cannot go on');
    this.dependencies.onFatal(error);
  }

  async #start(): Promise<void> {
    const { directory, disk, log, clock, logger } = this.dependencies;
    const startedMs = clock.monotonicMs();
    this.#phase = 'starting';
    await disk.removeDirectory(incomingDirectory(directory));
    const opened = await openState(directory, disk, clock, logger, this.options);
    try {
      if ('machine' in opened) this.#use(opened.machine, opened.database);
      await log.start(opened.applied, this.#handlers());
      if ('unusable' in opened) this.#awaitSnapshot(opened);
    } catch (error) {
      this.#lost = 'starting failed';
      await log.stop();
      await this.#sweeper.idle();
      if (this.#live) await closeLiveState(this.#live);
      this.#live = undefined;
      // A log that has nobody to ask says so, too; what is wrong here is the state.
      const noHelp = error instanceof LogError && error.code === 'Corrupt' && 'unusable' in opened;
      throw asStoreError(noHelp ? opened.unusable : error);
    }
    this.#phase = 'running';
    if (this.#live) this.proposer.start();
    this.#sweeper.sweep();
    this.#maintenance.start();
    const revision = this.machine?.revision;
    const keyCount = this.machine?.keys.keyCount;
    const durationMs = Math.round(clock.monotonicMs() - startedMs);
    logger.info({ directory, revision, keyCount, durationMs }, 'store opened');
  }

  /** Throws StoreError `Corrupt` when there is nobody to get another state from. */
  #awaitSnapshot({ unusable }: UnusableState): void {
    const { log, logger, directory } = this.dependencies;
    if (!hasOthers(log)) throw unusable;
    logger.error(
      { directory, error: unusable },
      'the state database cannot be used: a snapshot of the leader takes its place',
    );
  }

  async #stop(): Promise<void> {
    // Its failure is told to whoever called `start`.
    await Promise.allSettled([this.#starting]);
    this.#maintenance.stop();
    await this.#live?.checkpointer.stop();
    if (this.#phase === 'running') await this.dependencies.log.stop();
    this.#phase = 'stopping';
    const stopped = new StoreError('Stopped', 'the store is stopped');
    this.proposer.stop();
    this.reads.stop(stopped);
    this.watches.stop(stopped);
    await this.#sweeper.idle();
    await this.#snapshots.stop();
    if (this.#live && !this.#replacing) await closeLiveState(this.#live);
    this.#live = undefined;
  }

  #handlers(): LogHandlers {
    return {
      onCommitted: (entries) => this.#apply(entries),
      onRefused: (ids, error) => this.proposer.refused(ids, error),
      onLeadership: (leadership) => this.proposer.led(leadership),
      snapshots: this.#snapshots,
    };
  }

  #apply(entries: readonly CommittedEntry[]): Promise<void> | undefined {
    // The process is about to end.
    if (this.#lost !== undefined) return undefined;
    const live = this.#writable();
    if (!live) throw new Error('invariant broken: the log delivers to a store without state');
    return this.#applier.apply(live, entries);
  }

  /** The state in use, if it may be changed and its disk be used. */
  #writable(): LiveState | undefined {
    return this.#replacing || this.#lost !== undefined ? undefined : this.#live;
  }

  async #suspend(): Promise<void> {
    this.#replacing = true;
    this.watches.pause();
    await this.#sweeper.idle();
    if (this.#live) await closeLiveState(this.#live);
  }

  #replace(machine: StateMachine, database: StateDatabase): void {
    const before = this.#live?.machine;
    if (before && machine.appliedIndex < before.appliedIndex) {
      throw new Error('invariant broken: a snapshot is older than the state it replaces');
    }
    this.#replacing = false;
    this.#use(machine, database);
    this.proposer.start();
    const { revision, appliedIndex } = machine;
    this.dependencies.logger.info({ revision, appliedIndex }, 'snapshot installed');
  }

  #use(machine: StateMachine, database: StateDatabase): void {
    this.#live = liveState(machine, database, {
      ...this.dependencies,
      options: this.options,
      observer: this.dependencies.observer,
      onFatal: (error) => this.fatal(error),
      mayCut: () => this.#phase === 'running' && !this.#stopping,
      onCheckpoint: () => this.#sweeper.sweep(),
    });
    this.#applier.replaced(this.#live);
  }

  async #diverged(message: string): Promise<void> {
    if (this.#lost !== undefined) return;
    const live = this.#writable();
    const { log, logger } = this.dependencies;
    const error = divergedError(message, hasOthers(log));
    try {
      await live?.database.noteResync(error.message);
    } catch (failure) {
      logger.error({ error: failure }, 'the divergence could not be noted on disk');
    }
    this.fatal(error);
  }
}

/** Whether another voter could have the state. */
function hasOthers(log: ReplicatedLog): boolean {
  const { self, configuration } = log.status();
  return configuration.voters.some(({ id }) => id !== self.id);
}
