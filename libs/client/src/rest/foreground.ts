/**
 * Lets requests in the background wait while a client sends others, so that the work of a burst
 * comes before its records. Counts the other requests from the call to the response.
 */
import { type Clock, sleep } from '@orch/component';
import { limits } from '../limits.js';

export class Foreground {
  private openCount = 0;
  private endedMs = Number.NEGATIVE_INFINITY;

  constructor(private readonly clock: Clock) {}

  begin(): void {
    this.openCount++;
  }

  end(nowMs: number): void {
    this.openCount--;
    this.endedMs = nowMs;
  }

  /** Resolves when no other request was open for a short time, at the latest at `untilMs`. */
  async whenQuiet(untilMs: number, signal: AbortSignal | undefined): Promise<void> {
    for (;;) {
      const nowMs = this.clock.monotonicMs();
      const isQuiet = this.openCount === 0 && nowMs - this.endedMs >= limits.foregroundQuietMs;
      if (isQuiet || nowMs >= untilMs) return;
      await sleep(Math.min(limits.foregroundQuietMs, untilMs - nowMs), signal, this.clock);
    }
  }
}
