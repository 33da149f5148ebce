/**
 * The replica's clock: a tick is half a heartbeat. A timer that fires late, as after a pause of the
 * process, causes one tick instead of all missed ones: otherwise the replica would campaign before
 * it has read the messages that arrived meanwhile.
 */
import type { LoopClock, Timer } from '@orch/component';

export class Ticker {
  private timer: Timer | undefined;
  private nextMs = 0;

  constructor(
    private readonly clock: LoopClock,
    private readonly tickMs: number,
    /** `lateMs`: how much later than due the timer fired. */
    private readonly onTick: (lateMs: number) => void,
  ) {}

  start(): void {
    this.nextMs = this.clock.monotonicMs();
    this.schedule();
  }

  stop(): void {
    this.timer?.cancel();
    this.timer = undefined;
  }

  private schedule(): void {
    const nowMs = this.clock.monotonicMs();
    const behindMs = nowMs - this.nextMs;
    this.nextMs = (behindMs > this.tickMs ? nowMs : this.nextMs) + this.tickMs;
    this.timer = this.clock.setTimer(Math.max(0, this.nextMs - nowMs), () => this.fired());
  }

  private fired(): void {
    const lateMs = Math.max(0, this.clock.monotonicMs() - this.nextMs);
    this.schedule();
    if (lateMs <= this.tickMs) {
      this.onTick(lateMs);
      return;
    }
    // Reads the messages that arrived meanwhile first: one may be from the leader.
    void this.clock.nextTurn().then(() => {
      if (this.timer) this.onTick(lateMs);
    });
  }
}
