/**
 * The clock of one simulated process: it may run fast or slow, its wall time may jump, and it
 * stands still for the process while that is paused: afterwards all due timers fire. When the
 * process dies its timers die with it.
 */
import type { LoopClock, Timer } from '@orch/component';
import type { SimLoop } from './sim-loop.js';

export class NodeClock implements LoopClock {
  private wallOffsetMs: number;
  private resumeAtMs = 0;
  private dead = false;
  private readonly startedAtMs: number;

  constructor(
    private readonly loop: SimLoop,
    /** Own milliseconds for each of the world's. */
    readonly rate: number,
    wallOffsetMs: number,
    /** A zero of its own, as after a reboot. */
    private readonly monotonicStartMs: number,
  ) {
    this.wallOffsetMs = wallOffsetMs;
    this.startedAtMs = loop.nowMs;
  }

  nowMs(): number {
    return Math.floor(1_700_000_000_000 + this.loop.nowMs + this.wallOffsetMs);
  }

  monotonicMs(): number {
    return this.monotonicStartMs + (this.loop.nowMs - this.startedAtMs) * this.rate;
  }

  setTimer(delayMs: number, callback: () => void): Timer {
    return this.schedule(Math.max(0, delayMs) / this.rate, callback);
  }

  nextTurn(): Promise<void> {
    return new Promise((resolve) => {
      this.schedule(0, resolve);
    });
  }

  jumpWall(byMs: number): void {
    this.wallOffsetMs += byMs;
  }

  pauseUntil(atMs: number): void {
    this.resumeAtMs = Math.max(this.resumeAtMs, atMs);
  }

  get isPaused(): boolean {
    return this.resumeAtMs > this.loop.nowMs;
  }

  get isDead(): boolean {
    return this.dead;
  }

  kill(): void {
    this.dead = true;
  }

  private schedule(delayMs: number, callback: () => void): Timer {
    let scheduled = this.loop.after(delayMs, run);
    const self = this;
    function run(): void {
      if (self.dead) return;
      if (self.isPaused) scheduled = self.loop.at(self.resumeAtMs, run);
      else callback();
    }
    return { cancel: () => scheduled.cancel() };
  }
}
