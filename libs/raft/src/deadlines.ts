/**
 * Callers that wait for something, each with a deadline. One coarse timer serves all of them and
 * runs only while somebody waits: a timer for each commit would cost more than the commit.
 */
import type { Clock, Timer } from '@orch/component';
import { DEADLINE_SWEEP_MS } from './limits.js';

export interface Waiting {
  /** On the clock's `monotonicMs`. */
  readonly deadlineMs: number;
  /** Called once when the deadline has passed; the caller is no longer waiting by then. */
  expired(): void;
}

export class Deadlines<Waiter extends Waiting> {
  readonly #waiting = new Set<Waiter>();
  #timer: Timer | undefined;

  constructor(private readonly clock: Clock) {}

  get size(): number {
    return this.#waiting.size;
  }

  has(waiter: Waiter): boolean {
    return this.#waiting.has(waiter);
  }

  add(waiter: Waiter): void {
    this.#waiting.add(waiter);
    this.#timer ??= this.clock.setTimer(DEADLINE_SWEEP_MS, () => this.#sweep());
  }

  /** False when it was not waiting (any more). */
  remove(waiter: Waiter): boolean {
    return this.#waiting.delete(waiter);
  }

  /** Everybody who waits; nobody does afterwards. */
  takeAll(): Waiter[] {
    const all = [...this.#waiting];
    this.#waiting.clear();
    this.#timer?.cancel();
    this.#timer = undefined;
    return all;
  }

  #sweep(): void {
    this.#timer = undefined;
    const nowMs = this.clock.monotonicMs();
    for (const waiter of this.#waiting) {
      if (waiter.deadlineMs > nowMs) continue;
      this.#waiting.delete(waiter);
      waiter.expired();
    }
    if (this.#waiting.size > 0) {
      this.#timer ??= this.clock.setTimer(DEADLINE_SWEEP_MS, () => this.#sweep());
    }
  }
}
