/** Waits for a token bucket, within a deadline. */
import { type Clock, sleep } from '@orch/component';
import { limits } from '../limits.js';
import { TokenBucket } from './token-bucket.js';
import { TransportError } from './transport-error.js';

export class RateLimit {
  private readonly bucket: TokenBucket;
  private waitingCount = 0;

  constructor(
    qps: number,
    burst: number,
    private readonly clock: Clock,
  ) {
    this.bucket = new TokenBucket(qps, burst, clock.monotonicMs());
  }

  /** Resolves when the request may be sent. Rejects immediately if it had to wait longer. */
  async acquire(nowMs: number, deadlineMs: number, signal?: AbortSignal): Promise<void> {
    const delayMs = this.bucket.reserve(nowMs);
    if (delayMs === 0) return;
    if (nowMs + delayMs > deadlineMs || this.waitingCount >= limits.throttledCountMax) {
      this.bucket.cancel();
      throw new TransportError(
        'throttled',
        `client rate limit: a wait of ${Math.round(delayMs)} ms would exceed the request's deadline`,
        false,
      );
    }
    this.waitingCount++;
    try {
      await sleep(delayMs, signal, this.clock);
    } catch (error) {
      this.bucket.cancel();
      throw error;
    } finally {
      this.waitingCount--;
    }
  }
}
