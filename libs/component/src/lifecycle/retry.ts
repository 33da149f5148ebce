/**
 * Exponential back-off between attempts, with jitter so that many clients do not retry
 * simultaneously.
 */
import { type Clock, systemClock } from '../clock.js';
import { sleep } from './deadline.js';

export interface BackoffOptions {
  /** The first pause. */
  readonly initialMs: number;
  /**
   * The longest pause. Higher: a recovery is noticed later. Lower: more load on the failed peer.
   */
  readonly maxMs: number;
  /** The ratio of a pause to the previous one. */
  readonly factor: number;
  /** The random share of a pause, 0 to 1. */
  readonly jitter: number;
  /** Uniform in [0, 1). */
  readonly random: () => number;
}

/** Returns the pause after `failureCount` failures, in milliseconds. */
export function backoffMs(failureCount: number, options: BackoffOptions): number {
  const { initialMs, maxMs, factor, jitter, random } = options;
  const fullMs = Math.min(maxMs, initialMs * factor ** Math.min(failureCount - 1, 64));
  return fullMs * (1 - jitter * random());
}

export class Backoff {
  private failures = 0;

  constructor(private readonly options: BackoffOptions) {}

  get failureCount(): number {
    return this.failures;
  }

  /** Counts a failure and returns the milliseconds to wait before the next attempt. */
  nextMs(): number {
    this.failures += 1;
    return backoffMs(this.failures, this.options);
  }

  reset(): void {
    this.failures = 0;
  }
}

export interface RetryOptions extends BackoffOptions {
  /** All attempts, including the first. */
  readonly attemptCountMax: number;
  /** Whether another attempt may succeed; true for every error by default. */
  readonly isRetryable?: (error: unknown) => boolean;
  readonly signal?: AbortSignal;
  readonly clock?: Clock;
}

/** Runs `attempt` until it succeeds. Throws the last error when all attempts have failed. */
export async function retry<T>(
  attempt: (attemptNumber: number) => Promise<T>,
  options: RetryOptions,
): Promise<T> {
  const backoff = new Backoff(options);
  for (let attemptNumber = 1; ; attemptNumber += 1) {
    options.signal?.throwIfAborted();
    try {
      return await attempt(attemptNumber);
    } catch (error) {
      const retryable = options.isRetryable?.(error) ?? true;
      if (!retryable || attemptNumber >= options.attemptCountMax) throw error;
      await sleep(backoff.nextMs(), options.signal, options.clock ?? systemClock);
    }
  }
}
