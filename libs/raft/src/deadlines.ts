/**
 * Callers that wait for a result, each with a deadline. One coarse timer serves all of them and
 * runs only while there are any: a timer for each commit would cost more than the commit.
 */
import type { Clock, Timer } from '@orch/component';
import { deadlineSweepMs } from './limits.js';

export interface Waiting {
  /** On the clock's `monotonicMs`. */
  readonly deadlineMs: number;
  /** Called once when the deadline has passed; the caller is no longer waiting by then. */
  expired(): void;
}

export class Deadlines<Waiter extends Waiting> {
  private readonly waiting = new Set<Waiter>();
  private timer: Timer | undefined;

  constructor(private readonly clock: Clock) {}

  get size(): number {
    return this.waiting.size;
  }

  has(waiter: Waiter): boolean {
    return this.waiting.has(waiter);
  }

  add(waiter: Waiter): void {
    this.waiting.add(waiter);
    this.timer ??= this.clock.setTimer(deadlineSweepMs, () => this.sweep());
  }

  /** False when it was not waiting (any more). */
  remove(waiter: Waiter): boolean {
    return this.waiting.delete(waiter);
  }

  /** Removes and returns all callers. */
  takeAll(): Waiter[] {
    const all = [...this.waiting];
    this.waiting.clear();
    this.timer?.cancel();
    this.timer = undefined;
    return all;
  }

  private sweep(): void {
    this.timer = undefined;
    const nowMs = this.clock.monotonicMs();
    for (const waiter of this.waiting) {
      if (waiter.deadlineMs > nowMs) continue;
      this.waiting.delete(waiter);
      waiter.expired();
    }
    if (this.waiting.size > 0) {
      this.timer ??= this.clock.setTimer(deadlineSweepMs, () => this.sweep());
    }
  }
}
