/** Limits a byte rate: sent bytes never exceed it by more than one chunk. */
import type { Clock } from '@orch/component';

export class Pacer {
  private freeAtMs: number;

  constructor(
    private readonly clock: Clock,
    private readonly bytesPerSecond: number,
  ) {
    if (!(bytesPerSecond > 0)) throw new RangeError('a rate must be above 0');
    this.freeAtMs = clock.monotonicMs();
  }

  /** Resolves when `byteCount` more may go. */
  async pass(byteCount: number): Promise<void> {
    const nowMs = this.clock.monotonicMs();
    const waitMs = this.freeAtMs - nowMs;
    this.freeAtMs = Math.max(this.freeAtMs, nowMs) + (byteCount / this.bytesPerSecond) * 1_000;
    // Timers have no finer resolution; the next chunk waits longer to compensate.
    if (waitMs < 1) return;
    await new Promise<void>((resolve) => {
      this.clock.setTimer(waitMs, resolve);
    });
  }
}
