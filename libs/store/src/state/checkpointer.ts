/**
 * Writes checkpoints, which are states that are completely on stable storage, and compacts the log
 * up to them. Invariants: the log drops no entry that is not in the last checkpoint; checkpoint and
 * log restore the state, whatever a crash of the machine does to later writes.
 */
import type { Clock } from '@orch/component';
import { asLogIndex, LogError, type ReplicatedLog } from '@orch/raft';
import type { Facts, StateMachine } from '../core/state-machine.js';
import type { StoreObserver } from '../store-observer.js';
import type { StoreOptions } from '../store-options.js';
import type { StateDatabase } from './state-database.js';
import type { StateWriter } from './state-writer.js';

export interface CheckpointerDependencies {
  readonly log: ReplicatedLog;
  readonly clock: Clock;
  readonly options: StoreOptions;
  readonly observer: StoreObserver | undefined;
  readonly onFatal: (error: Error) => void;
  /** Whether the log runs: it cannot be compacted before. */
  readonly canCompactLog: () => boolean;
  /** Called after a checkpoint was written or failed. */
  readonly onCheckpoint: () => void;
}

export class Checkpointer {
  /**
   * Revision of the last checkpoint of this process life. Versions that it needs are not dropped
   * before the next checkpoint.
   */
  revision = 0;
  private appliedIndex: number;
  private bytesSince = 0;
  private running: Promise<void> | undefined;
  private stopped = false;

  constructor(
    private readonly machine: StateMachine,
    private readonly database: StateDatabase,
    private readonly dependencies: CheckpointerDependencies,
  ) {
    this.appliedIndex = machine.appliedIndex;
  }

  /** The state database has every change up to `facts.appliedIndex`, unsynced. */
  written(facts: Facts, byteCount: number, writer: StateWriter): void {
    this.bytesSince += byteCount;
    const entryCount = facts.appliedIndex - this.appliedIndex;
    const { logKeepEntries, logKeepBytes } = this.dependencies.options;
    if (entryCount >= logKeepEntries || this.bytesSince >= logKeepBytes) this.request(writer);
  }

  /** Writes a checkpoint of the present state unless one is in progress. */
  request(writer: StateWriter): void {
    if (!this.stopped && this.dependencies.canCompactLog()) this.running ??= this.run(writer);
  }

  async stop(): Promise<void> {
    this.stopped = true;
    await this.running;
  }

  private async run(writer: StateWriter): Promise<void> {
    const { clock, observer, onFatal, onCheckpoint } = this.dependencies;
    const startedMs = clock.monotonicMs();
    try {
      await this.make(writer);
      observer?.checkpointed(clock.monotonicMs() - startedMs);
    } catch (error) {
      // A log that stops retains its entries.
      if (!(error instanceof LogError && error.code === 'Stopped')) {
        const cause = error instanceof Error ? error : new Error(String(error));
        onFatal(new Error(`the checkpoint of the state failed: ${cause.message}`, { cause }));
      }
    }
    this.running = undefined;
    onCheckpoint();
  }

  private async make(writer: StateWriter): Promise<void> {
    const { facts } = this.machine;
    const proposers = this.machine.proposers.encodeAll();
    this.appliedIndex = facts.appliedIndex;
    this.bytesSince = 0;
    await writer.reached(facts.appliedIndex);
    await this.database.sync();
    await this.database.writeCheckpoint({ facts, proposers });
    this.revision = facts.revision;
    await this.dependencies.log.truncate(asLogIndex(facts.appliedIndex));
  }
}
