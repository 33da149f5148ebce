/** Growing pauses between attempts, with jitter so that many clients do not come back at once. */
import { type Clock, systemClock } from '../clock.js';
import { sleep } from './deadline.js';

export interface BackoffSettings {
  /** First pause. */
  readonly initialMs: number;
  /** Longest pause. Higher: slow to notice a recovery. Lower: more load on what is down. */
  readonly maxMs: number;
  /** Growth from one pause to the next. */
  readonly factor: number;
  /** Share of the pause that is random, 0 to 1. */
  readonly jitter: number;
  /** Uniform in [0, 1). */
  readonly random: () => number;
}

export class Backoff {
  private attemptCount = 0;

  constructor(private readonly settings: BackoffSettings) {}

  /** Milliseconds to wait before the next attempt. */
  nextMs(): number {
    const { initialMs, maxMs, factor, jitter, random } = this.settings;
    const fullMs = Math.min(maxMs, initialMs * factor ** Math.min(this.attemptCount, 64));
    this.attemptCount += 1;
    return fullMs * (1 - jitter * random());
  }

  reset(): void {
    this.attemptCount = 0;
  }
}

export interface RetrySettings extends BackoffSettings {
  /** Attempts in all, the first included. */
  readonly attemptCountMax: number;
  /** Whether another attempt may help; every error when left out. */
  readonly isRetryable?: (error: unknown) => boolean;
  readonly signal?: AbortSignal;
  readonly clock?: Clock;
}

/** Runs `attempt` until it succeeds; rethrows the last error when attempts are used up. */
export async function retry<T>(
  attempt: (attemptNumber: number) => Promise<T>,
  settings: RetrySettings,
): Promise<T> {
  const backoff = new Backoff(settings);
  for (let attemptNumber = 1; ; attemptNumber += 1) {
    settings.signal?.throwIfAborted();
    try {
      return await attempt(attemptNumber);
    } catch (error) {
      const retryable = settings.isRetryable?.(error) ?? true;
      if (!retryable || attemptNumber >= settings.attemptCountMax) throw error;
      await sleep(backoff.nextMs(), settings.signal, settings.clock ?? systemClock);
    }
  }
}
