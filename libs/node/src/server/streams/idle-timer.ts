/** Aborts its signal when no data has been transferred for a time. */
import type { Readable } from 'node:stream';
import type { Clock, Timer } from '@orch/component';

export class IdleTimer {
  private readonly idle = new AbortController();
  private timer: Timer | undefined;
  private lastMs: number;

  /** `timeoutMs` 0 disables the timer. */
  constructor(
    private readonly timeoutMs: number,
    private readonly clock: Clock,
  ) {
    this.lastMs = clock.monotonicMs();
    if (timeoutMs > 0) this.wait(timeoutMs);
  }

  get signal(): AbortSignal {
    return this.idle.signal;
  }

  /** Resets the timer on data of `stream`. Call it before the stream is piped. */
  watch(stream: Readable | undefined): void {
    stream?.on('data', () => {
      this.lastMs = this.clock.monotonicMs();
    });
  }

  stop(): void {
    this.timer?.cancel();
  }

  private wait(ms: number): void {
    this.timer = this.clock.setTimer(ms, () => {
      const leftMs = this.lastMs + this.timeoutMs - this.clock.monotonicMs();
      if (leftMs <= 0) this.idle.abort();
      else this.wait(leftMs);
    });
  }
}
