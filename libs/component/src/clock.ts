/**
 * The injected clock. Correctness never depends on wall time: `monotonicMs` is for durations and
 * deadlines, `nowMs` only for timestamps in output and objects.
 */
export interface Clock {
  /** Wall time, milliseconds since the epoch. May step. */
  nowMs(): number;
  /** Never decreases. Only differences are meaningful. */
  monotonicMs(): number;
  /** Calls `callback` once after `delayMs`. The timer does not keep the process alive. */
  setTimer(delayMs: number, callback: () => void): Timer;
}

/**
 * A clock that also yields to the event loop, so that code that yields can run under simulation.
 */
export interface LoopClock extends Clock {
  /**
   * Resolves in the next iteration of the event loop. Long work awaits it so as not to block the
   * loop.
   */
  nextTurn(): Promise<void>;
}

export interface Timer {
  cancel(): void;
}

/**
 * The delay to the next common moment of work with this period: moments are the multiples of the
 * period, plus `phaseMs`, on the monotonic clock of the process. An idle process then wakes once
 * for all such work. A moment that is nearer than an eighth of the period is left out, so that no
 * work runs twice in succession.
 */
export function alignedDelayMs(
  clock: Pick<Clock, 'monotonicMs'>,
  periodMs: number,
  phaseMs = 0,
): number {
  const remainingMs = periodMs - ((clock.monotonicMs() - phaseMs) % periodMs);
  return remainingMs < periodMs / 8 ? remainingMs + periodMs : remainingMs;
}

export const systemClock: LoopClock = {
  nowMs: () => Date.now(),
  monotonicMs: () => performance.now(),
  setTimer(delayMs, callback) {
    const handle = setTimeout(callback, delayMs);
    handle.unref();
    return { cancel: () => clearTimeout(handle) };
  },
  nextTurn: () => new Promise((resolve) => setImmediate(resolve)),
};
