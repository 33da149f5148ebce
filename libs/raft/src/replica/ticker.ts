/**
 * The replica's sense of time: a tick is half a heartbeat. A timer that fires late, as after a pause of
 * the process, makes one tick and not all that were missed: otherwise it would stand for election before
 * it has read what came in meanwhile.
 */
import type { LoopClock, Timer } from '@orch/component';

export class Ticker {
  #timer: Timer | undefined;
  #nextMs = 0;

  constructor(
    private readonly clock: LoopClock,
    private readonly tickMs: number,
    /** `lateMs`: how much later than due the timer fired. */
    private readonly onTick: (lateMs: number) => void,
  ) {}

  start(): void {
    this.#nextMs = this.clock.monotonicMs();
    this.#schedule();
  }

  stop(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
  }

  #schedule(): void {
    const nowMs = this.clock.monotonicMs();
    const behindMs = nowMs - this.#nextMs;
    this.#nextMs = (behindMs > this.tickMs ? nowMs : this.#nextMs) + this.tickMs;
    this.#timer = this.clock.setTimer(Math.max(0, this.#nextMs - nowMs), () => this.#fired());
  }

  #fired(): void {
    const lateMs = Math.max(0, this.clock.monotonicMs() - this.#nextMs);
    this.#schedule();
    if (lateMs <= this.tickMs) {
      this.onTick(lateMs);
      return;
    }
    // What has come in meanwhile is read first: it may be the leader's word.
    void this.clock.nextTurn().then(() => {
      if (this.#timer) this.onTick(lateMs);
    });
  }
}
