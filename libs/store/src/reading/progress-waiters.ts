/** Readers that wait until the state reaches an applied index or a revision. */
import type { Clock } from '@orch/component';
import { Deadlines, type Waiting } from '@orch/raft';
import { readsWaitingMax } from '../limits.js';
import { StoreError } from '../versioned-store.js';

interface Waiter extends Waiting {
  readonly target: number;
  readonly resolve: () => void;
  readonly reject: (error: StoreError) => void;
}

export class ProgressWaiters {
  private readonly deadlines: Deadlines<Waiter>;
  private waiters: Waiter[] = [];

  constructor(private readonly clock: Clock) {
    this.deadlines = new Deadlines(clock);
  }

  /** Resolves when `advance` was called with `target` or more; rejects with `onTimeout()`. */
  wait(target: number, timeoutMs: number, onTimeout: () => StoreError): Promise<void> {
    if (this.deadlines.size >= readsWaitingMax) {
      return Promise.reject(new StoreError('Overloaded', 'too many reads are waiting'));
    }
    return new Promise((resolve, reject) => {
      const deadlineMs = this.clock.monotonicMs() + timeoutMs;
      const waiter: Waiter = {
        target,
        deadlineMs,
        resolve,
        reject,
        expired: () => {
          this.waiters = this.waiters.filter((other) => other !== waiter);
          reject(onTimeout());
        },
      };
      this.waiters.push(waiter);
      this.deadlines.add(waiter);
    });
  }

  advance(reached: number): void {
    if (this.waiters.length === 0) return;
    const waiting: Waiter[] = [];
    for (const waiter of this.waiters) {
      if (waiter.target > reached) {
        waiting.push(waiter);
        continue;
      }
      this.deadlines.remove(waiter);
      waiter.resolve();
    }
    this.waiters = waiting;
  }

  rejectAll(error: StoreError): void {
    this.waiters = [];
    for (const waiter of this.deadlines.takeAll()) waiter.reject(error);
  }
}
