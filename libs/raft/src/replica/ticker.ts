/**
 * The replica's clock: a tick is half a heartbeat. One timer waits for all ticks up to the first
 * one for which something is due, so that an idle replica seldom wakes; the others are counted
 * before input is handled. A timer that fires late, as after a pause of the process, causes one
 * tick instead of all missed ones: otherwise the replica would campaign before it has read the
 * messages that arrived meanwhile.
 */
import type { LoopClock, Timer } from '@orch/component';

export interface TickerOptions {
  readonly clock: LoopClock;
  readonly tickMs: number;
  /** Ticks up to the first one that does more than count; at least 1. */
  readonly ticksUntilDue: () => number;
  /** `lateMs`: how much later than due the timer fired; undefined: it has not. */
  readonly onTicks: (count: number, lateMs: number | undefined) => void;
}

export class Ticker {
  private timer: Timer | undefined;
  /** Until then ticks were reported. */
  private tickedMs = 0;
  /** Ticks from then on for which the timer waits. */
  private planned = 1;

  constructor(private readonly options: TickerOptions) {}

  start(): void {
    this.tickedMs = this.options.clock.monotonicMs();
    this.plan(1);
  }

  stop(): void {
    this.timer?.cancel();
    this.timer = undefined;
  }

  /** Reports the ticks that have passed, without the last one, for which the timer waits. */
  catchUp(): void {
    if (!this.timer || this.planned === 1) return;
    const { clock, tickMs, onTicks } = this.options;
    const passed = Math.floor((clock.monotonicMs() - this.tickedMs) / tickMs);
    const count = Math.min(passed, this.planned - 1);
    if (count <= 0) return;
    this.tickedMs += count * tickMs;
    this.planned -= count;
    onTicks(count, undefined);
  }

  /** Something may be due earlier than when the timer was set. */
  adjust(): void {
    if (!this.timer || this.planned === 1) return;
    const ticks = this.options.ticksUntilDue();
    if (ticks >= this.planned) return;
    this.timer.cancel();
    this.plan(ticks);
  }

  private plan(ticks: number): void {
    const { clock, tickMs } = this.options;
    this.planned = ticks;
    const waitMs = this.tickedMs + ticks * tickMs - clock.monotonicMs();
    this.timer = clock.setTimer(Math.max(0, waitMs), () => this.fired());
  }

  private fired(): void {
    const { clock, tickMs, onTicks, ticksUntilDue } = this.options;
    const nowMs = clock.monotonicMs();
    const dueMs = this.tickedMs + this.planned * tickMs;
    const lateMs = Math.max(0, nowMs - dueMs);
    const quietCount = this.planned - 1;
    this.tickedMs = lateMs > tickMs ? nowMs : dueMs;
    this.planned = 1;
    if (lateMs <= tickMs) {
      onTicks(quietCount + 1, lateMs);
      if (this.timer) this.plan(ticksUntilDue());
      return;
    }
    if (quietCount > 0) onTicks(quietCount, undefined);
    this.plan(1);
    // Reads the messages that arrived meanwhile first: one may be from the leader.
    void clock.nextTurn().then(() => {
      if (this.timer) onTicks(1, lateMs);
    });
  }
}
