/** Exponential delays for keys that keep failing. Pure; forgets a key when told that it went well. */
export class KeyBackoff {
  private readonly failures = new Map<string, number>();

  constructor(
    private readonly baseMs: number,
    private readonly maxMs: number,
  ) {}

  /** Counts a failure and gives the delay before the next try. */
  next(key: string): number {
    const count = this.failures.get(key) ?? 0;
    this.failures.set(key, count + 1);
    return Math.min(this.maxMs, this.baseMs * 2 ** Math.min(count, 64));
  }

  forget(key: string): void {
    this.failures.delete(key);
  }

  failureCount(key: string): number {
    return this.failures.get(key) ?? 0;
  }
}
