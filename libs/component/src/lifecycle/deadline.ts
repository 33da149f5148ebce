/** Deadlines of promises and requests, and an abortable sleep. Every wait uses these. */
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
  signal?: EndSignal,
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

/** The end of an operation: the part of an `AbortSignal` that waits and requests need. */
export interface EndSignal {
  readonly aborted: boolean;
  readonly reason?: unknown;
  addEventListener(type: 'abort', listener: () => void, options?: { once?: boolean }): void;
  removeEventListener(type: 'abort', listener: () => void): void;
}

/**
 * The deadline of one operation, for requests of less than a millisecond: the signals of the
 * runtime take a tenth of their time.
 */
export class Deadline implements EndSignal {
  reason: DeadlineError | undefined;
  private readonly listeners = new Set<() => void>();
  private readonly timer: NodeJS.Timeout;

  constructor(timeoutMs: number, what: string) {
    this.timer = setTimeout(() => this.end(new DeadlineError(what, timeoutMs)), timeoutMs);
  }

  get aborted(): boolean {
    return this.reason !== undefined;
  }

  addEventListener(_type: 'abort', listener: () => void): void {
    this.listeners.add(listener);
  }

  removeEventListener(_type: 'abort', listener: () => void): void {
    this.listeners.delete(listener);
  }

  /** The operation is complete. */
  clear(): void {
    clearTimeout(this.timer);
    this.listeners.clear();
  }

  private end(reason: DeadlineError): void {
    this.reason = reason;
    for (const listener of this.listeners) listener();
    this.listeners.clear();
  }
}
