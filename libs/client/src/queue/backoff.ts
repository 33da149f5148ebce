/** Exponential delays for keys that fail repeatedly. Pure. */
import { Backoff, type BackoffOptions } from '@orch/component';

export class KeyBackoff {
  private readonly backoffs = new Map<string, Backoff>();
  private readonly options: BackoffOptions;

  constructor(initialMs: number, maxMs: number) {
    // Without jitter: the keys of one process do not overload anything together.
    this.options = { initialMs, maxMs, factor: 2, jitter: 0, random: () => 0 };
  }

  /** Counts a failure of the key. @returns the delay before the next attempt. */
  next(key: string): number {
    let backoff = this.backoffs.get(key);
    if (!backoff) {
      backoff = new Backoff(this.options);
      this.backoffs.set(key, backoff);
    }
    return backoff.nextMs();
  }

  forget(key: string): void {
    this.backoffs.delete(key);
  }

  failureCount(key: string): number {
    return this.backoffs.get(key)?.failureCount ?? 0;
  }
}
