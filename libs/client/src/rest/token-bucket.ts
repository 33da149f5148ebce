/**
 * A token bucket that holds at most `burst` tokens and refills at `qps` tokens a second. Pure: the
 * caller passes the time and waits. A reservation may make the number of tokens negative.
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

  /** Takes a token. @returns the milliseconds to wait before its use. */
  reserve(nowMs: number): number {
    if (this.qps <= 0) return 0;
    this.refill(nowMs);
    this.tokens -= 1;
    return this.tokens >= 0 ? 0 : (-this.tokens / this.qps) * 1000;
  }

  /** Takes a token if one is available. */
  tryTake(nowMs: number): boolean {
    if (this.qps <= 0) return true;
    this.refill(nowMs);
    if (this.tokens < 1) return false;
    this.tokens -= 1;
    return true;
  }

  /** Returns the token of an unused reservation. */
  cancel(): void {
    if (this.qps > 0) this.tokens = Math.min(this.burst, this.tokens + 1);
  }

  private refill(nowMs: number): void {
    const elapsedMs = Math.max(0, nowMs - this.updatedMs);
    this.tokens = Math.min(this.burst, this.tokens + (elapsedMs / 1000) * this.qps);
    this.updatedMs = Math.max(nowMs, this.updatedMs);
  }
}
