/** A bucket of tokens that refills at a constant rate. */
export class TokenBucket {
  private tokens: number;
  private refilledMs: number;

  constructor(
    private readonly tokensPerSecond: number,
    private readonly burst: number,
    nowMs: number,
  ) {
    this.tokens = burst;
    this.refilledMs = nowMs;
  }

  /** Takes a token; false if there is none. `nowMs`: on the monotonic clock. */
  take(nowMs: number): boolean {
    if (!this.has(nowMs)) return false;
    this.tokens -= 1;
    return true;
  }

  /** Whether `take` would succeed. */
  has(nowMs: number): boolean {
    const refilled = ((nowMs - this.refilledMs) / 1_000) * this.tokensPerSecond;
    this.tokens = Math.min(this.burst, this.tokens + refilled);
    this.refilledMs = nowMs;
    return this.tokens >= 1;
  }
}
