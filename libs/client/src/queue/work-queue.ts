/** A queue of keys to reconcile: each at most once in it, never two workers on one key. */
import type { Clock, Logger } from '@orch/component';

export interface WorkQueueOptions {
  /** Label of metrics and logs. */
  name: string;
  clock?: Clock;
  logger?: Logger;
  /** First and largest delay of a key that keeps failing. */
  backoffBaseMs?: number;
  backoffMaxMs?: number;
  /** Retries per second over all keys, and how many at once. */
  retryQps?: number;
  retryBurst?: number;
  /** Keys waiting; more are refused with a `QueueFullError`. */
  keyCountMax?: number;
}

export declare class WorkQueue {
  constructor(options: WorkQueueOptions);
  add(key: string): void;
  addAfter(key: string, delayMs: number): void;
  /** Adds after the key's own back-off and the overall limit. */
  addRateLimited(key: string): void;
  /** Ends the key's back-off: call when it went well. */
  forget(key: string): void;
  failureCount(key: string): number;
  /** Keys ready now. */
  readonly depth: number;
  /** The next key, or undefined once shut down. Pair with `done`. */
  next(): Promise<string | undefined>;
  done(key: string): void;
  /**
   * Runs `workerCount` workers until shut down: a handler that throws is logged and its key retried with
   * back-off; one that returns a number of milliseconds is called again after them.
   */
  run(workerCount: number, handle: (key: string) => Promise<number | undefined>): Promise<void>;
  /** No more keys are handed out; `run` resolves when its workers are through. */
  shutDown(): void;
}
