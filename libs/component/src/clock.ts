/**
 * The injected clock. Correctness never depends on wall time: `monotonicMs` is for measuring and
 * deadlines, `nowMs` only for what is shown to people or written into objects.
 */
export interface Clock {
  /** Wall time, milliseconds since the epoch. May step. */
  nowMs(): number;
  /** Never goes back; its zero has no meaning. */
  monotonicMs(): number;
  /** Calls `callback` once after `delayMs`. The timer does not keep the process alive. */
  setTimer(delayMs: number, callback: () => void): Timer;
}

/** For code that must be the same under simulation: it yields through the clock, too. */
export interface LoopClock extends Clock {
  /** Resolves after the event loop has gone round once: how long work lets others have their turn. */
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
