/** Deadlines of promises, and an abortable sleep. Every wait in the code base uses these. */
import { type Clock, systemClock } from '../clock.js';

/** The wait exceeded its deadline; the work may still complete. */
export class DeadlineError extends Error {
  override readonly name = 'DeadlineError';
  readonly code = 'deadline-exceeded';

  constructor(
    readonly what: string,
    readonly timeoutMs: number,
  ) {
    super(`${what} took longer than ${Math.round(timeoutMs)} ms`);
  }
}

/**
 * Returns the result of `work`; rejects with `DeadlineError` after `timeoutMs`. Does not stop the
 * work.
 */
export function withDeadline<T>(
  work: Promise<T>,
  timeoutMs: number,
  what: string,
  clock: Clock = systemClock,
): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = clock.setTimer(timeoutMs, () => reject(new DeadlineError(what, timeoutMs)));
    work.then(resolve, reject).finally(() => timer.cancel());
  });
}

/** Waits `delayMs`. Rejects with the reason of `signal` when it is aborted. */
export function sleep(
  delayMs: number,
  signal?: AbortSignal,
  clock: Clock = systemClock,
): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) {
      reject(signal.reason);
      return;
    }
    const onAbort = () => {
      timer.cancel();
      reject(signal?.reason);
    };
    const timer = clock.setTimer(delayMs, () => {
      signal?.removeEventListener('abort', onAbort);
      resolve();
    });
    signal?.addEventListener('abort', onAbort, { once: true });
  });
}
