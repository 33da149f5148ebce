/** Deadlines on promises, and sleep that can be cut short. Every wait of the house goes through these. */
import { type Clock, systemClock } from '../clock.js';

/** The wait was longer than allowed; whether the work still ends is unknown. */
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

/** The result of `work`, or a `DeadlineError` after `timeoutMs`. The work itself is not stopped. */
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

/** Waits `delayMs`; rejects with the signal's reason as soon as it is aborted. */
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
