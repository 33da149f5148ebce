/**
 * Quorum reads: determines the log index that a reader must see. One round of the log serves every
 * reader that waited when it started; a reader never joins a round in progress, because that round
 * may have started before a write that the reader must see.
 */
import type { Clock } from '@orch/component';
import { Deadlines, type ReplicatedLog, type Waiting } from '@orch/raft';
import { barrierTimeoutMs, readsWaitingMax } from '../limits.js';
import type { StoreObserver } from '../store-observer.js';
import { StoreError } from '../versioned-store.js';

interface Reader extends Waiting {
  readonly resolve: (index: number) => void;
  readonly reject: (error: StoreError) => void;
}

export class ReadBarrier {
  private readonly deadlines: Deadlines<Reader>;
  private next: Reader[] = [];
  private running = false;

  constructor(
    private readonly log: Pick<ReplicatedLog, 'readBarrier'>,
    private readonly clock: Clock,
    private readonly observer: StoreObserver | undefined,
  ) {
    this.deadlines = new Deadlines(clock);
  }

  /** Resolves with the index that must be applied before the reader reads the state. */
  pass(timeoutMs: number): Promise<number> {
    if (this.deadlines.size >= readsWaitingMax) {
      return Promise.reject(new StoreError('Overloaded', 'too many reads are waiting'));
    }
    return new Promise((resolve, reject) => {
      const deadlineMs = this.clock.monotonicMs() + timeoutMs;
      const expired = () => reject(unavailable('no quorum responded within the deadline'));
      const reader: Reader = { deadlineMs, resolve, reject, expired };
      this.deadlines.add(reader);
      this.next.push(reader);
      if (this.running) return;
      this.running = true;
      queueMicrotask(() => void this.run());
    });
  }

  private async run(): Promise<void> {
    while (this.next.length > 0) {
      const readers = this.next;
      this.next = [];
      const startedMs = this.clock.monotonicMs();
      try {
        const index = await this.log.readBarrier(startedMs + barrierTimeoutMs);
        this.observer?.barrier(this.clock.monotonicMs() - startedMs, readers.length);
        for (const reader of readers) if (this.deadlines.remove(reader)) reader.resolve(index);
      } catch (error) {
        const failure = unavailable(error instanceof Error ? error.message : String(error));
        for (const reader of readers) if (this.deadlines.remove(reader)) reader.reject(failure);
      }
    }
    this.running = false;
  }
}

function unavailable(reason: string): StoreError {
  return new StoreError('Unavailable', `a consistent read is not possible now: ${reason}`);
}
