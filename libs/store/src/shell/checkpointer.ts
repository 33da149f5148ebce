/**
 * Cuts the log: once enough has been written to the state database since the last cut, that is
 * synced and the log before it dropped. Invariant: nothing leaves the log that is not on stable
 * storage in the state database.
 */
import type { Clock } from '@orch/component';
import type { LogIndex, ReplicatedLog } from '@orch/raft';
import type { Facts } from '../core/state-machine.js';
import type { StoreObserver } from '../store-observer.js';
import type { StateDatabase } from './state-database.js';

export interface CheckpointOptions {
  readonly logKeepEntries: number;
  readonly logKeepBytes: number;
}

export class Checkpointer {
  #cutIndex: number;
  #bytesSince = 0;
  #running: Promise<void> | undefined;
  #stopped = false;

  constructor(
    private readonly database: StateDatabase,
    private readonly log: ReplicatedLog,
    private readonly clock: Clock,
    private readonly options: CheckpointOptions,
    private readonly onFatal: (error: Error) => void,
    private readonly observer: StoreObserver | undefined,
    appliedIndex: number,
  ) {
    this.#cutIndex = appliedIndex;
  }

  /** The state database holds everything up to `facts.appliedIndex`, unsynced. */
  written(facts: Facts, byteCount: number): void {
    this.#bytesSince += byteCount;
    const entryCount = facts.appliedIndex - this.#cutIndex;
    const { logKeepEntries, logKeepBytes } = this.options;
    if (entryCount < logKeepEntries && this.#bytesSince < logKeepBytes) return;
    if (!this.#stopped) this.#running ??= this.#run(facts.appliedIndex);
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#running;
  }

  async #run(index: number): Promise<void> {
    const startedMs = this.clock.monotonicMs();
    this.#cutIndex = index;
    this.#bytesSince = 0;
    try {
      await this.database.sync();
      await this.log.truncate(index as LogIndex);
      this.observer?.checkpointed(this.clock.monotonicMs() - startedMs);
    } catch (error) {
      const cause = error instanceof Error ? error : new Error(String(error));
      this.onFatal(new Error(`cutting the log failed: ${cause.message}`, { cause }));
    }
    this.#running = undefined;
  }
}
