/**
 * The time that commands carry. It goes on from the store's own time by the monotonic clock, so that a
 * step of the wall clock neither ends times to live early nor holds them up; the wall clock counts
 * once, at start, for the time in which nothing ran.
 */
import type { Clock } from '@orch/component';

export class StoreTime {
  #baseMs: number;
  #atMs: number;

  constructor(private readonly clock: Clock) {
    this.#baseMs = Math.max(0, clock.nowMs());
    this.#atMs = clock.monotonicMs();
  }

  /** Whole milliseconds since the epoch; never falls. */
  nowMs(): number {
    return Math.floor(this.#baseMs + this.clock.monotonicMs() - this.#atMs);
  }

  /** The state's time as applied: another replica's may be ahead. */
  observe(timeMs: number): void {
    const monotonicMs = this.clock.monotonicMs();
    if (timeMs <= this.#baseMs + monotonicMs - this.#atMs) return;
    this.#baseMs = timeMs;
    this.#atMs = monotonicMs;
  }
}
