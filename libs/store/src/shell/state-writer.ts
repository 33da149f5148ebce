/**
 * Brings applied changes to the state database: asynchronous, batched, in order, one batch at a
 * time. What waits is bounded: over `STATE_LAG_BYTES_MAX`, `room` tells the log to hold back.
 */
import type { LoopClock } from '@orch/component';
import type { StoreEvent } from '../core/event-ring.js';
import { encodeRecord, versionKey } from '../core/record.js';
import type { Facts } from '../core/state-machine.js';
import type { VersionName } from '../core/versions.js';
import { STATE_BATCH_BYTES_MAX, STATE_LAG_BYTES_MAX } from '../limits.js';
import type { StoreObserver } from '../store-observer.js';
import type { StateChange, StateDatabase } from './state-database.js';

interface QueuedChange {
  /** Encoded when its batch is built: until then the entries themselves are enough. */
  readonly events: readonly StoreEvent[];
  readonly drops: readonly VersionName[];
  readonly proposers: ReadonlyMap<string, Buffer | undefined>;
  readonly facts: Facts;
  readonly byteCount: number;
}

const CHANGE_OVERHEAD_BYTES = 128;

export class StateWriter {
  /** What the newest finished batch brought to the database. */
  writtenFacts: Facts;
  #queue: QueuedChange[] = [];
  #queuedBytes = 0;
  #running: Promise<void> | undefined;
  #failed = false;
  #roomWaiters: (() => void)[] = [];
  #batchWaiters: (() => void)[] = [];

  constructor(
    private readonly database: StateDatabase,
    private readonly clock: LoopClock,
    facts: Facts,
    private readonly onWritten: (facts: Facts, byteCount: number) => void,
    private readonly onFatal: (error: Error) => void,
    private readonly observer: StoreObserver | undefined,
  ) {
    this.writtenFacts = facts;
  }

  enqueue(
    facts: Facts,
    events: readonly StoreEvent[],
    drops: readonly VersionName[],
    proposers: ReadonlyMap<string, Buffer | undefined>,
  ): void {
    let byteCount = CHANGE_OVERHEAD_BYTES * (1 + events.length + drops.length);
    for (const { entry } of events) byteCount += entry.bytes.length;
    this.#queue.push({ events, drops, proposers, facts, byteCount });
    this.#queuedBytes += byteCount;
    this.#running ??= this.#run();
  }

  /** Undefined when there is room; else resolves once the queue has shrunk. */
  room(): Promise<void> | undefined {
    if (this.#queuedBytes <= STATE_LAG_BYTES_MAX || this.#failed) return undefined;
    return new Promise((resolve) => this.#roomWaiters.push(resolve));
  }

  /** Resolves when everything up to this entry has been written (not synced), or nothing more will be. */
  async reached(appliedIndex: number): Promise<void> {
    while (this.#running && this.writtenFacts.appliedIndex < appliedIndex) {
      await new Promise<void>((resolve) => this.#batchWaiters.push(resolve));
    }
  }

  /** Resolves when nothing is left to be written. */
  async drained(): Promise<void> {
    while (this.#running) await this.#running;
  }

  async #run(): Promise<void> {
    // Lets the slice being applied finish first: it then goes into one batch.
    await this.clock.nextTurn();
    while (this.#queue.length > 0 && !this.#failed) {
      const { taken, byteCount } = this.#take();
      try {
        await this.#write(taken, byteCount);
      } catch (error) {
        this.#failed = true;
        const cause = error instanceof Error ? error : new Error(String(error));
        this.onFatal(new Error(`writing the state database failed: ${cause.message}`, { cause }));
      }
      this.#queuedBytes -= byteCount;
      if (this.#failed || this.#queuedBytes <= STATE_LAG_BYTES_MAX / 2) wake(this.#roomWaiters);
      wake(this.#batchWaiters);
    }
    this.#running = undefined;
    wake(this.#batchWaiters);
  }

  #take(): { taken: QueuedChange[]; byteCount: number } {
    let byteCount = 0;
    let count = 0;
    for (const change of this.#queue) {
      if (count > 0 && byteCount + change.byteCount > STATE_BATCH_BYTES_MAX) break;
      byteCount += change.byteCount;
      count += 1;
    }
    const taken = this.#queue.slice(0, count);
    this.#queue = this.#queue.slice(count);
    return { taken, byteCount };
  }

  async #write(taken: readonly QueuedChange[], byteCount: number): Promise<void> {
    const startedMs = this.clock.monotonicMs();
    const changes = taken.map(encodeChange);
    await this.database.write(changes);
    this.writtenFacts = changes.at(-1)!.facts;
    let recordCount = 0;
    for (const change of changes) recordCount += change.puts.length;
    const durationMs = this.clock.monotonicMs() - startedMs;
    this.observer?.stateWritten(recordCount, byteCount, durationMs);
    this.onWritten(this.writtenFacts, byteCount);
  }
}

function wake(waiters: (() => void)[]): void {
  for (const resolve of waiters.splice(0)) resolve();
}

function encodeChange({ events, drops, proposers, facts }: QueuedChange): StateChange {
  const puts = events.map(({ entry, kind, previous }, at) => {
    const key = versionKey(entry.revision, entry.position);
    const last = events[at + 1]?.revision !== entry.revision;
    const previousRevision = previous?.revision ?? 0;
    const record = { entry, deleted: kind === 'delete', last, previousRevision };
    return [key, encodeRecord(key, record)] as const;
  });
  return { puts, drops, proposers, facts };
}
