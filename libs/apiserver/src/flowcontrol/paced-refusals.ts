/**
 * The pace of 429 responses. A client that ignores them sends its next request as soon as it has
 * one, so that thousands of such clients would leave no time for the requests that are served. The
 * first refusals of a burst are sent immediately; the others wait, in order, for their share of the
 * event loop. A waiting request costs memory but no CPU.
 */
import { type Clock, type Timer, TokenBucket } from '@orch/component';
import {
  refusalBurst,
  refusalDelaySeconds,
  refusalsPerSecond,
  refusalsWaitingMax,
} from '../limits.js';

const tickMs = 10;
/** A tick that comes late makes up for this time at most. */
const elapsedMsMax = 100;

export class PacedRefusals {
  private readonly bucket: TokenBucket;
  private readonly waiting: (() => void)[] = [];
  private timer: Timer | undefined;
  private releasedMs = 0;

  constructor(private readonly clock: Clock) {
    this.bucket = new TokenBucket(refusalsPerSecond, refusalBurst, clock.monotonicMs());
  }

  /** Resolves when the refusal may be sent. Undefined: now. */
  wait(): Promise<void> | undefined {
    const nowMs = this.clock.monotonicMs();
    if (this.waiting.length === 0 && this.bucket.take(nowMs)) return undefined;
    if (this.waiting.length >= refusalsWaitingMax) return undefined;
    return new Promise((resolve) => {
      this.waiting.push(resolve);
      if (this.timer) return;
      this.releasedMs = nowMs;
      this.schedule();
    });
  }

  private schedule(): void {
    this.timer = this.clock.setTimer(tickMs, () => this.release());
  }

  private release(): void {
    const nowMs = this.clock.monotonicMs();
    const seconds = Math.min(nowMs - this.releasedMs, elapsedMsMax) / 1_000;
    this.releasedMs = nowMs;
    const perSecond = Math.max(refusalsPerSecond, this.waiting.length / refusalDelaySeconds);
    for (const refuse of this.waiting.splice(0, Math.ceil(perSecond * seconds))) refuse();
    this.timer = undefined;
    if (this.waiting.length > 0) this.schedule();
  }
}
