/**
 * A rate limit: `qps` tokens a second, at most `burst` saved up. Pure: the caller brings the time and
 * does the waiting. A reservation may put the bucket into debt; debts are paid in order.
 */
export class TokenBucket {
  private tokens: number;
  private updatedMs: number;

  constructor(
    /** Tokens a second; 0 is unlimited. */
    private readonly qps: number,
    private readonly burst: number,
    nowMs: number,
  ) {
    this.tokens = burst;
    this.updatedMs = nowMs;
  }

  /** Takes a token and tells how long to wait before using it. */
  reserve(nowMs: number): number {
    if (this.qps <= 0) return 0;
    this.refill(nowMs);
    this.tokens -= 1;
    return this.tokens >= 0 ? 0 : (-this.tokens / this.qps) * 1000;
  }

  /** Takes a token if there is one now. */
  tryTake(nowMs: number): boolean {
    if (this.qps <= 0) return true;
    this.refill(nowMs);
    if (this.tokens < 1) return false;
    this.tokens -= 1;
    return true;
  }

  /** Gives back a reservation that was not used. */
  cancel(): void {
    if (this.qps > 0) this.tokens = Math.min(this.burst, this.tokens + 1);
  }

  private refill(nowMs: number): void {
    const elapsedMs = Math.max(0, nowMs - this.updatedMs);
    this.tokens = Math.min(this.burst, this.tokens + (elapsedMs / 1000) * this.qps);
    this.updatedMs = Math.max(nowMs, this.updatedMs);
  }
}
