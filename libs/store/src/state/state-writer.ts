/**
 * Writes applied changes to the state database: asynchronously, in order, one batch at a time.
 * Changes gather for `stateGatherMs` first, because a write costs far more than a record in it, and
 * no caller waits for it: after a crash the log replays the changes that were not written. The
 * queue is bounded: above `stateLagBytesMax`, `room` holds the log back.
 */
import type { LoopClock, Timer } from '@orch/component';
import type { StoreEvent } from '../core/event-ring.js';
import { encodeRecord, versionKey } from '../core/record.js';
import type { Facts } from '../core/state-machine.js';
import type { VersionName } from '../core/versions.js';
import { stateBatchBytesMax, stateGatherMs, stateLagBytesMax } from '../limits.js';
import type { StoreObserver } from '../store-observer.js';
import type { StateChange, StateDatabase } from './state-database.js';

interface QueuedChange {
  /** Encoded when the batch is built, to keep the queue small. */
  readonly events: readonly StoreEvent[];
  readonly drops: readonly VersionName[];
  readonly proposers: ReadonlyMap<string, Buffer | undefined>;
  readonly facts: Facts;
  readonly byteCount: number;
}

const changeOverheadBytes = 128;

export class StateWriter {
  /** The facts in the database after the newest finished batch. */
  writtenFacts: Facts;
  private queue: QueuedChange[] = [];
  private queuedBytes = 0;
  private running: Promise<void> | undefined;
  private failed = false;
  private roomWaiters: (() => void)[] = [];
  private batchWaiters: (() => void)[] = [];
  /** Ends the gathering of changes; undefined: none is in progress. */
  private endGathering: (() => void) | undefined;
  /** Callers that wait until everything queued is written. */
  private hurried = 0;

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
    let byteCount = changeOverheadBytes * (1 + events.length + drops.length);
    for (const { entry } of events) byteCount += entry.bytes.length;
    this.queue.push({ events, drops, proposers, facts, byteCount });
    this.queuedBytes += byteCount;
    if (this.isDue) this.endGathering?.();
    this.running ??= this.run();
  }

  /** Returns undefined if the queue has room, else a promise that resolves when it has. */
  room(): Promise<void> | undefined {
    if (this.queuedBytes <= stateLagBytesMax || this.failed) return undefined;
    return new Promise((resolve) => this.roomWaiters.push(resolve));
  }

  /** Resolves when every change up to this entry is written (not synced), or writing has failed. */
  async reached(appliedIndex: number): Promise<void> {
    await this.hurry(async () => {
      while (this.running && this.writtenFacts.appliedIndex < appliedIndex) {
        await new Promise<void>((resolve) => this.batchWaiters.push(resolve));
      }
    });
  }

  /** Resolves when the queue is empty. */
  async drained(): Promise<void> {
    await this.hurry(async () => {
      while (this.running) await this.running;
    });
  }

  /** Whether the queued changes are to be written without waiting for more. */
  private get isDue(): boolean {
    return this.hurried > 0 || this.queuedBytes >= stateBatchBytesMax;
  }

  private async hurry(wait: () => Promise<void>): Promise<void> {
    this.hurried += 1;
    this.endGathering?.();
    try {
      await wait();
    } finally {
      this.hurried -= 1;
    }
  }

  private async gather(): Promise<void> {
    // The slice being applied finishes first, so that one batch has all of it.
    await this.clock.nextTurn();
    if (this.isDue) return;
    let timer: Timer | undefined;
    await new Promise<void>((resolve) => {
      this.endGathering = resolve;
      timer = this.clock.setTimer(stateGatherMs, resolve);
    });
    timer?.cancel();
    this.endGathering = undefined;
  }

  private async run(): Promise<void> {
    while (this.queue.length > 0 && !this.failed) {
      await this.gather();
      const { taken, byteCount } = this.take();
      try {
        await this.write(taken, byteCount);
      } catch (error) {
        this.failed = true;
        const cause = error instanceof Error ? error : new Error(String(error));
        this.onFatal(new Error(`writing the state database failed: ${cause.message}`, { cause }));
      }
      this.queuedBytes -= byteCount;
      if (this.failed || this.queuedBytes <= stateLagBytesMax / 2) wake(this.roomWaiters);
      wake(this.batchWaiters);
    }
    this.running = undefined;
    wake(this.batchWaiters);
  }

  private take(): { taken: QueuedChange[]; byteCount: number } {
    let byteCount = 0;
    let count = 0;
    for (const change of this.queue) {
      if (count > 0 && byteCount + change.byteCount > stateBatchBytesMax) break;
      byteCount += change.byteCount;
      count += 1;
    }
    const taken = this.queue.slice(0, count);
    this.queue = this.queue.slice(count);
    return { taken, byteCount };
  }

  private async write(taken: readonly QueuedChange[], byteCount: number): Promise<void> {
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
