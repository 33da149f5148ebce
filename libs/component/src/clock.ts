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
