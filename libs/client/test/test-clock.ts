/** A clock that moves only when told to; timers run in order as it passes them. */
import type { Clock, Timer } from '@orch/component';

interface Pending {
  readonly dueMs: number;
  readonly callback: () => void;
}

export class TestClock implements Clock {
  private elapsedMs = 0;
  private pending: Pending[] = [];

  constructor(private readonly epochMs = Date.UTC(2021, 5, 1)) {}

  nowMs(): number {
    return this.epochMs + this.elapsedMs;
  }

  monotonicMs(): number {
    return this.elapsedMs;
  }

  setTimer(delayMs: number, callback: () => void): Timer {
    const timer = { dueMs: this.elapsedMs + delayMs, callback };
    this.pending.push(timer);
    return {
      cancel: () => {
        this.pending = this.pending.filter((one) => one !== timer);
      },
    };
  }

  get timerCount(): number {
    return this.pending.length;
  }

  /** Runs what falls due, letting promises settle after each timer. */
  async advance(byMs: number): Promise<void> {
    const untilMs = this.elapsedMs + byMs;
    await settle();
    for (;;) {
      const due = this.pending
        .filter((one) => one.dueMs <= untilMs)
        .sort((a, b) => a.dueMs - b.dueMs)[0];
      if (!due) break;
      this.pending = this.pending.filter((one) => one !== due);
      this.elapsedMs = Math.max(this.elapsedMs, due.dueMs);
      due.callback();
      await settle();
    }
    this.elapsedMs = untilMs;
    await settle();
  }
}

export async function settle(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await Promise.resolve();
}
