/** A clock that stands still until a test moves it. */
import type { LoopClock, Timer } from '@orch/component';

interface Scheduled {
  readonly atMs: number;
  readonly callback: () => void;
}

export class ManualClock implements LoopClock {
  private currentMs = 1_000_000;
  private readonly timers = new Set<Scheduled>();

  nowMs(): number {
    return this.currentMs;
  }

  monotonicMs(): number {
    return this.currentMs;
  }

  setTimer(delayMs: number, callback: () => void): Timer {
    const scheduled = { atMs: this.currentMs + delayMs, callback };
    this.timers.add(scheduled);
    return { cancel: () => this.timers.delete(scheduled) };
  }

  nextTurn(): Promise<void> {
    return new Promise((resolve) => setImmediate(resolve));
  }

  /** Fires due timers in order, and lets promises and I/O callbacks run in between. */
  async advance(byMs: number): Promise<void> {
    const endMs = this.currentMs + byMs;
    for (;;) {
      const [next] = [...this.timers].sort((left, right) => left.atMs - right.atMs);
      if (!next || next.atMs > endMs) break;
      this.timers.delete(next);
      this.currentMs = Math.max(this.currentMs, next.atMs);
      next.callback();
      await settle();
    }
    this.currentMs = endMs;
    await settle();
  }
}

async function settle(): Promise<void> {
  for (let turn = 0; turn < 5; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}
