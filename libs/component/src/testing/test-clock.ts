/** A clock that only `advance` moves. Due timers run in the order of their times. */
import type { Clock, Timer } from '../clock.js';

interface Pending {
  readonly dueMs: number;
  readonly callback: () => void;
}

export class TestClock implements Clock {
  private elapsedMs = 0;
  private pending: Pending[] = [];

  constructor(private epochMs = Date.UTC(2021, 5, 1)) {}

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
        this.pending = this.pending.filter((other) => other !== timer);
      },
    };
  }

  get timerCount(): number {
    return this.pending.length;
  }

  /** Changes the wall clock only, as an administrator does; no timer becomes due. */
  jump(byMs: number): void {
    this.epochMs += byMs;
  }

  /** Runs the timers that become due, and the promise callbacks after each of them. */
  async advance(byMs: number): Promise<void> {
    const untilMs = this.elapsedMs + byMs;
    await settle();
    for (;;) {
      const due = this.pending
        .filter(({ dueMs }) => dueMs <= untilMs)
        .sort((a, b) => a.dueMs - b.dueMs)[0];
      if (!due) break;
      this.pending = this.pending.filter((timer) => timer !== due);
      this.elapsedMs = Math.max(this.elapsedMs, due.dueMs);
      due.callback();
      await settle();
    }
    this.elapsedMs = untilMs;
    await settle();
  }
}

/** Runs the pending promise callbacks. */
export async function settle(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await Promise.resolve();
}
