/**
 * Makes checkpoints: moments of the state that are wholly on stable storage, and cuts the log behind
 * them. Invariants: nothing leaves the log that is not in the last checkpoint; whatever a crash of the
 * machine does to what was written later, checkpoint and log make the state again.
 */
import { LogError, type LogIndex } from '@orch/raft';
import type { Facts, StateMachine } from '../core/state-machine.js';
import type { LiveStateContext } from './live-state.js';
import type { StateDatabase } from './state-database.js';
import type { StateWriter } from './state-writer.js';

export class Checkpointer {
  /** Of the last checkpoint of this process life: what it shows may not be dropped before the next. */
  revision = 0;
  #appliedIndex: number;
  #bytesSince = 0;
  #running: Promise<void> | undefined;
  #stopped = false;

  constructor(
    private readonly machine: StateMachine,
    private readonly database: StateDatabase,
    private readonly context: LiveStateContext,
  ) {
    this.#appliedIndex = machine.appliedIndex;
  }

  /** The state database holds everything up to `facts.appliedIndex`, unsynced. */
  written(facts: Facts, byteCount: number, writer: StateWriter): void {
    this.#bytesSince += byteCount;
    const entryCount = facts.appliedIndex - this.#appliedIndex;
    const { logKeepEntries, logKeepBytes } = this.context.options;
    if (entryCount >= logKeepEntries || this.#bytesSince >= logKeepBytes) this.request(writer);
  }

  /** Makes one of now, unless one is being made. */
  request(writer: StateWriter): void {
    if (!this.#stopped && this.context.mayCut()) this.#running ??= this.#run(writer);
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#running;
  }

  async #run(writer: StateWriter): Promise<void> {
    const { clock, observer, onFatal, onCheckpoint } = this.context;
    const startedMs = clock.monotonicMs();
    try {
      await this.#make(writer);
      observer?.checkpointed(clock.monotonicMs() - startedMs);
    } catch (error) {
      // A log that stops keeps what it has.
      if (!(error instanceof LogError && error.code === 'Stopped')) {
        const cause = error instanceof Error ? error : new Error(String(error));
        onFatal(new Error(`cutting the log failed: ${cause.message}`, { cause }));
      }
    }
    this.#running = undefined;
    onCheckpoint();
  }

  async #make(writer: StateWriter): Promise<void> {
    const { facts } = this.machine;
    const proposers = this.machine.proposers.encodeAll();
    this.#appliedIndex = facts.appliedIndex;
    this.#bytesSince = 0;
    await writer.reached(facts.appliedIndex);
    await this.database.sync();
    await this.database.writeCheckpoint({ facts, proposers });
    this.revision = facts.revision;
    await this.context.log.truncate(facts.appliedIndex as LogIndex);
  }
}
