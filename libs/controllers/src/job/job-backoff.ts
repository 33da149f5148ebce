/**
 * Delays the processing of failed pods: the first failure of a job is replaced immediately, later
 * ones at the earliest 10, 20, 40, ... seconds after the previous one, until a pod succeeds. A
 * changed spec ends the pause.
 */
import { limits } from '../limits.js';

interface Failures {
  readonly count: number;
  readonly generation: number;
  readonly processedAtMs: number;
}

export class JobBackoff {
  private readonly failures = new Map<string, Failures>();

  /** Milliseconds until a new failure is processed; times are monotonic. */
  remainingMs(key: string, generation: number, nowMs: number): number {
    const failures = this.failures.get(key);
    if (!failures || failures.generation !== generation) return 0;
    const factor = 2 ** Math.min(failures.count - 1, 30);
    const pauseMs = Math.min(limits.jobBackoffMsMin * factor, limits.jobBackoffMsMax);
    return Math.max(0, failures.processedAtMs + pauseMs - nowMs);
  }

  /** Notes that new failures have been processed. */
  failed(key: string, generation: number, nowMs: number): void {
    const count = (this.failures.get(key)?.count ?? 0) + 1;
    this.failures.set(key, { count, generation, processedAtMs: nowMs });
  }

  reset(key: string): void {
    this.failures.delete(key);
  }
}
