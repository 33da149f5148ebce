/**
 * Quorum reads: how a reader learns what it must see. One round of the log serves every reader that
 * was waiting when it began; a reader never joins a round that is under way, since that round may
 * have begun before a write that the reader must see.
 */
import type { Clock } from '@orch/component';
import { Deadlines, type ReplicatedLog, type Waiting } from '@orch/raft';
import { BARRIER_TIMEOUT_MS, READS_WAITING_MAX } from '../limits.js';
import type { StoreObserver } from '../store-observer.js';
import { StoreError } from '../versioned-store.js';

interface Reader extends Waiting {
  readonly resolve: (index: number) => void;
  readonly reject: (error: StoreError) => void;
}

export class ReadBarrier {
  readonly #deadlines: Deadlines<Reader>;
  #next: Reader[] = [];
  #running = false;

  constructor(
    private readonly log: Pick<ReplicatedLog, 'readBarrier'>,
    private readonly clock: Clock,
    private readonly observer: StoreObserver | undefined,
  ) {
    this.#deadlines = new Deadlines(clock);
  }

  /** Resolves with the index that must have been applied before the reader looks. */
  pass(timeoutMs: number): Promise<number> {
    if (this.#deadlines.size >= READS_WAITING_MAX) {
      return Promise.reject(new StoreError('Overloaded', 'too many reads are waiting'));
    }
    return new Promise((resolve, reject) => {
      const deadlineMs = this.clock.monotonicMs() + timeoutMs;
      const expired = () => reject(unavailable('no quorum answered within the deadline'));
      const reader: Reader = { deadlineMs, resolve, reject, expired };
      this.#deadlines.add(reader);
      this.#next.push(reader);
      if (this.#running) return;
      this.#running = true;
      queueMicrotask(() => void this.#run());
    });
  }

  async #run(): Promise<void> {
    while (this.#next.length > 0) {
      const readers = this.#next;
      this.#next = [];
      const startedMs = this.clock.monotonicMs();
      try {
        const index = await this.log.readBarrier(startedMs + BARRIER_TIMEOUT_MS);
        this.observer?.barrier(this.clock.monotonicMs() - startedMs, readers.length);
        for (const reader of readers) if (this.#deadlines.remove(reader)) reader.resolve(index);
      } catch (error) {
        const failure = unavailable(error instanceof Error ? error.message : String(error));
        for (const reader of readers) if (this.#deadlines.remove(reader)) reader.reject(failure);
      }
    }
    this.#running = false;
  }
}

function unavailable(reason: string): StoreError {
  return new StoreError('Unavailable', `a consistent read is not possible now: ${reason}`);
}
