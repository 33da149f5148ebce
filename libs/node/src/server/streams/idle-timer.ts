/** Tells when nothing has moved for too long. */
import type { Readable } from 'node:stream';
import type { Clock, Timer } from '@orch/component';

export class IdleTimer {
  private readonly idle = new AbortController();
  private timer: Timer | undefined;
  private lastMs: number;

  /** 0: never. */
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

  /** What comes out of the stream counts as movement. Call it before the stream is piped. */
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
