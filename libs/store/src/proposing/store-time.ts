/**
 * The time that commands carry. It advances from the store's own time by the monotonic clock, so
 * that a step of the wall clock neither ends a time to live early nor delays it; the wall clock
 * counts once, at start, for the time while no replica ran.
 */
import type { Clock } from '@orch/component';

export class StoreTime {
  private baseMs: number;
  private atMs: number;

  constructor(private readonly clock: Clock) {
    this.baseMs = Math.max(0, clock.nowMs());
    this.atMs = clock.monotonicMs();
  }

  /** Whole milliseconds since the epoch. Never decreases. */
  nowMs(): number {
    return Math.floor(this.baseMs + this.clock.monotonicMs() - this.atMs);
  }

  /** Follows the time of the applied state, which another replica may have moved ahead. */
  observe(timeMs: number): void {
    const monotonicMs = this.clock.monotonicMs();
    if (timeMs <= this.baseMs + monotonicMs - this.atMs) return;
    this.baseMs = timeMs;
    this.atMs = monotonicMs;
  }
}
