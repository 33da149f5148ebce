/**
 * Composes the parts of the store and runs their lifecycle: start, the calls of the log, the
 * replacement of the state by a snapshot, stop, and the fatal end if the state cannot be trusted.
 */
import { invariant } from '@orch/component';
import { type CommittedEntry, LogError, type LogHandlers, type ReplicatedLog } from '@orch/raft';
import type { StateMachine } from '../core/state-machine.js';
import { divergedError, HashAudit } from '../maintenance/hash-audit.js';
import { Maintenance } from '../maintenance/maintenance.js';
import { Proposer } from '../proposing/proposer.js';
import { StoreTime } from '../proposing/store-time.js';
import { Reads } from '../reading/reads.js';
import { RevisionTimes } from '../reading/revision-times.js';
import { incomingDirectory, StateSnapshots } from '../snapshot/state-snapshots.js';
import { closeLiveState, type LiveState, liveState } from '../state/live-state.js';
import { asStoreError, type StateDatabase } from '../state/state-database.js';
import { openState, type UnusableState } from '../state/state-opening.js';
import { Sweeper } from '../state/sweeper.js';
import type { StoreDependencies } from '../store-dependencies.js';
import type { StoreOptions } from '../store-options.js';
import { StoreError } from '../versioned-store.js';
import { Watches } from '../watching/watches.js';
import { Applier } from './applier.js';

export class StoreLifecycle {
  readonly times = new RevisionTimes();
  readonly proposer: Proposer;
  readonly reads: Reads;
  readonly watches: Watches;
  private readonly sweeper: Sweeper;
  private readonly maintenance: Maintenance;
  private readonly applier: Applier;
  private readonly snapshots: StateSnapshots;
  private state: LiveState | undefined;
  /** A snapshot is replacing `state`, which can be read from memory only. */
  private replacing = false;
  private phase: 'new' | 'starting' | 'running' | 'stopping' = 'new';
  private starting: Promise<void> | undefined;
  private stopping: Promise<void> | undefined;
  private lost: string | undefined;

  constructor(
    private readonly dependencies: StoreDependencies,
    private readonly options: StoreOptions,
  ) {
    const { log, clock, random, logger, observer } = dependencies;
    const time = new StoreTime(clock);
    const proposer = new Proposer(log, clock, time, random, observer, options.pendingCommitsMax);
    const watches = new Watches({ clock, logger, onCorrupt: (error) => this.fatal(error) });
    const reads = new Reads(log, clock, observer, this.live.bind(this));
    const interval = options.hashIntervalEntries;
    const audit = new HashAudit(log, proposer, clock, logger, interval, (message) => {
      void this.diverged(message);
    });
    const sweeper = new Sweeper(clock, () => this.writable());
    const { times } = this;
    const shared = { clock, observer, watches, proposer, reads, times, time, audit, sweeper };
    this.proposer = proposer;
    this.reads = reads;
    this.watches = watches;
    this.sweeper = sweeper;
    this.applier = new Applier(shared);
    this.maintenance = new Maintenance(
      () => this.writable()?.machine,
      { ...shared, log, logger },
      options,
    );
    this.snapshots = new StateSnapshots(
      { ...dependencies, options },
      {
        live: () => this.writable(),
        suspend: () => this.suspend(),
        replace: (machine, database) => this.replace(machine, database),
      },
    );
  }

  get machine(): StateMachine | undefined {
    return this.state?.machine;
  }

  /** Returns the state in use. Throws StoreError `Stopped` or `Unavailable`. */
  live(): LiveState {
    if (this.stopping) throw new StoreError('Stopped', 'the store is stopped');
    if (this.state && this.phase === 'running') return this.state;
    throw new StoreError('Unavailable', this.unavailableReason() ?? 'the store is starting');
  }

  /** Returns why the store is not fully available, for an operator. */
  unavailableReason(): string | undefined {
    if (this.lost !== undefined) return this.lost;
    if (this.stopping) return 'the store is stopped';
    if (this.phase !== 'running') return 'the store is starting';
    const reason = this.dependencies.log.status().unavailableReason;
    if (reason !== undefined) return reason;
    if (!this.state) return 'the state was unusable: waiting for a snapshot from the leader';
    return this.proposer.caughtUp ? undefined : 'the state is catching up with the log';
  }

  start(): Promise<void> {
    this.starting ??= this.open();
    return this.starting;
  }

  stop(): Promise<void> {
    this.stopping ??= this.close();
    return this.stopping;
  }

  /** A damaged record is fatal, because other records may be damaged as well. */
  readFailure(error: unknown): unknown {
    if (error instanceof StoreError && error.code === 'Corrupt') this.fatal(error);
    return error;
  }

  fatal(error: Error): void {
    if (this.lost !== undefined) return;
    this.lost = error.message;
    this.dependencies.logger.fatal({ error }, 'the store cannot continue');
    this.dependencies.onFatal(error);
  }

  private async open(): Promise<void> {
    const { directory, disk, log, clock, logger } = this.dependencies;
    const startedMs = clock.monotonicMs();
    this.phase = 'starting';
    await disk.removeDirectory(incomingDirectory(directory));
    const opened = await openState(directory, disk, clock, logger, this.options);
    try {
      if ('machine' in opened) this.use(opened.machine, opened.database);
      await log.start(opened.applied, this.handlers());
      if ('unusable' in opened) this.awaitSnapshot(opened);
    } catch (error) {
      this.lost = 'starting failed';
      await log.stop();
      await this.sweeper.idle();
      if (this.state) await closeLiveState(this.state);
      this.state = undefined;
      // The log fails as well if no other member has the state; the cause is the state.
      const noHelp = error instanceof LogError && error.code === 'Corrupt' && 'unusable' in opened;
      throw asStoreError(noHelp ? opened.unusable : error);
    }
    this.phase = 'running';
    if (this.state) this.proposer.start();
    this.sweeper.sweep();
    this.maintenance.start();
    const revision = this.machine?.revision;
    const keyCount = this.machine?.keys.keyCount;
    const durationMs = Math.round(clock.monotonicMs() - startedMs);
    logger.info({ directory, revision, keyCount, durationMs }, 'store opened');
  }

  /** Throws StoreError `Corrupt` if no other member can send a state. */
  private awaitSnapshot({ unusable }: UnusableState): void {
    const { log, logger, directory } = this.dependencies;
    if (!hasOthers(log)) throw unusable;
    logger.error(
      { directory, error: unusable },
      'the state database is unusable: a snapshot of the leader replaces it',
    );
  }

  private async close(): Promise<void> {
    // The caller of `start` gets its error.
    await Promise.allSettled([this.starting]);
    this.maintenance.stop();
    await this.state?.checkpointer.stop();
    if (this.phase === 'running') await this.dependencies.log.stop();
    this.phase = 'stopping';
    const stopped = new StoreError('Stopped', 'the store is stopped');
    this.proposer.stop();
    this.reads.stop(stopped);
    this.watches.stop(stopped);
    await this.sweeper.idle();
    await this.snapshots.stop();
    if (this.state && !this.replacing) await closeLiveState(this.state);
    this.state = undefined;
  }

  private handlers(): LogHandlers {
    return {
      onCommitted: (entries) => this.apply(entries),
      onRefused: (ids, error) => this.proposer.refused(ids, error),
      onLeadership: (leadership) => this.proposer.led(leadership),
      snapshots: this.snapshots,
    };
  }

  private apply(entries: readonly CommittedEntry[]): Promise<void> | undefined {
    // The process is ending.
    if (this.lost !== undefined) return undefined;
    const live = this.writable();
    invariant(live !== undefined, 'the log delivers entries to a store without a state');
    return this.applier.apply(live, entries);
  }

  /** Returns the state in use if it may be changed and its database is open. */
  private writable(): LiveState | undefined {
    return this.replacing || this.lost !== undefined ? undefined : this.state;
  }

  private async suspend(): Promise<void> {
    this.replacing = true;
    this.watches.pause();
    await this.sweeper.idle();
    if (this.state) await closeLiveState(this.state);
  }

  private replace(machine: StateMachine, database: StateDatabase): void {
    const before = this.state?.machine;
    invariant(
      before === undefined || machine.appliedIndex >= before.appliedIndex,
      'a snapshot is older than the state that it replaces',
      { snapshot: machine.appliedIndex, state: before?.appliedIndex },
    );
    this.replacing = false;
    this.use(machine, database);
    this.proposer.start();
    const { revision, appliedIndex } = machine;
    this.dependencies.logger.info({ revision, appliedIndex }, 'snapshot installed');
  }

  private use(machine: StateMachine, database: StateDatabase): void {
    this.state = liveState(machine, database, {
      ...this.dependencies,
      options: this.options,
      observer: this.dependencies.observer,
      onFatal: (error) => this.fatal(error),
      canCompactLog: () => this.phase === 'running' && !this.stopping,
      onCheckpoint: () => this.sweeper.sweep(),
    });
    this.applier.replaced(this.state);
  }

  private async diverged(message: string): Promise<void> {
    if (this.lost !== undefined) return;
    const live = this.writable();
    const { log, logger } = this.dependencies;
    const error = divergedError(message, hasOthers(log));
    try {
      await live?.database.noteResync(error.message);
    } catch (failure) {
      logger.error({ error: failure }, 'the divergence was not recorded on disk');
    }
    this.fatal(error);
  }
}

/** Whether another voter can have the state. */
function hasOthers(log: ReplicatedLog): boolean {
  const { self, configuration } = log.status();
  return configuration.voters.some(({ id }) => id !== self.id);
}
