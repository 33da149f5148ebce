/**
 * A queue of keys to reconcile. A key is in it at most once; a key in work is handed out again only
 * when its worker is done, even if it was added meanwhile; a key added while in work is not lost.
 */
import { type Clock, type Logger, type Metrics, systemClock, type Timer } from '@orch/component';
import { limits } from '../limits.js';
import { isAlreadyExists, isConflict, isNotFound } from '../rest/api-error.js';
import { TokenBucket } from '../rest/token-bucket.js';
import { KeyBackoff } from './backoff.js';
import { type QueueObserver, type QueueState, queueObserver } from './queue-metrics.js';

export interface WorkQueueOptions {
  /** Label of metrics and logs. */
  name: string;
  clock?: Clock;
  logger?: Logger;
  metrics?: Metrics;
  /** First and largest delay of a key that keeps failing. */
  backoffBaseMs?: number;
  backoffMaxMs?: number;
  /** Retries per second over all keys, and how many at once. */
  retryQps?: number;
  retryBurst?: number;
  /** Keys waiting; more are refused with a `QueueFullError`. */
  keyCountMax?: number;
}

export class QueueFullError extends Error {
  override readonly name = 'QueueFullError';
}

interface Delayed {
  readonly dueMs: number;
  readonly timer: Timer;
}

export class WorkQueue implements QueueState {
  /** Ready keys, in order, with the time since which they are. */
  private readonly ready = new Map<string, number>();
  /** Keys in work, with the time since which they are. */
  private readonly inWork = new Map<string, number>();
  /** Keys added while in work. */
  private readonly again = new Set<string>();
  private readonly delayed = new Map<string, Delayed>();
  private waiters: ((key: string | undefined) => void)[] = [];
  private stopped = false;
  private readonly clock: Clock;
  private readonly backoff: KeyBackoff;
  private readonly retryLimit: TokenBucket;
  private readonly observer: QueueObserver | undefined;

  constructor(private readonly options: WorkQueueOptions) {
    this.clock = options.clock ?? systemClock;
    this.backoff = new KeyBackoff(options.backoffBaseMs ?? 5, options.backoffMaxMs ?? 1_000_000);
    this.retryLimit = new TokenBucket(
      options.retryQps ?? 10,
      options.retryBurst ?? 100,
      this.clock.monotonicMs(),
    );
    this.observer = options.metrics && queueObserver(options.metrics, options.name, this);
  }

  /** Keys ready now. */
  get depth(): number {
    return this.ready.size;
  }

  workSeconds(): readonly number[] {
    const nowMs = this.clock.monotonicMs();
    return [...this.inWork.values()].map((sinceMs) => (nowMs - sinceMs) / 1_000);
  }

  add(key: string): void {
    if (this.stopped || this.ready.has(key) || this.again.has(key)) return;
    this.observer?.added();
    if (this.inWork.has(key)) {
      this.again.add(key);
      return;
    }
    const waiter = this.waiters.shift();
    if (waiter) {
      this.inWork.set(key, this.clock.monotonicMs());
      this.observer?.waited(0);
      waiter(key);
      return;
    }
    this.refuseWhenFull();
    this.ready.set(key, this.clock.monotonicMs());
  }

  /** Adds after a while; of several delays for a key the one that ends first holds. */
  addAfter(key: string, delayMs: number): void {
    if (this.stopped) return;
    if (delayMs <= 0) {
      this.add(key);
      return;
    }
    const dueMs = this.clock.monotonicMs() + delayMs;
    const existing = this.delayed.get(key);
    if (existing && existing.dueMs <= dueMs) return;
    if (!existing) this.refuseWhenFull();
    existing?.timer.cancel();
    this.armTimer(key, dueMs);
  }

  /** Adds after the key's own back-off and the overall limit. */
  addRateLimited(key: string): void {
    this.observer?.retried();
    const overallMs = this.retryLimit.reserve(this.clock.monotonicMs());
    this.addAfter(key, Math.max(this.backoff.next(key), overallMs));
  }

  /** Ends the key's back-off: call when it went well. */
  forget(key: string): void {
    this.backoff.forget(key);
  }

  failureCount(key: string): number {
    return this.backoff.failureCount(key);
  }

  /** The next key, or undefined once shut down. Pair with `done`. */
  next(): Promise<string | undefined> {
    if (this.stopped) return Promise.resolve(undefined);
    for (const [key, sinceMs] of this.ready) {
      this.ready.delete(key);
      const nowMs = this.clock.monotonicMs();
      this.inWork.set(key, nowMs);
      this.observer?.waited((nowMs - sinceMs) / 1000);
      return Promise.resolve(key);
    }
    return new Promise((resolve) => this.waiters.push(resolve));
  }

  done(key: string): void {
    const sinceMs = this.inWork.get(key);
    if (sinceMs === undefined) return;
    this.inWork.delete(key);
    this.observer?.worked((this.clock.monotonicMs() - sinceMs) / 1000);
    if (this.again.delete(key)) this.add(key);
  }

  /**
   * Runs `workerCount` workers until shut down: a handler that throws is logged and its key retried with
   * back-off; one that returns a number of milliseconds is called again after them.
   */
  async run(
    workerCount: number,
    handle: (key: string) => Promise<number | undefined>,
  ): Promise<void> {
    const worker = async () => {
      for (let key = await this.next(); key !== undefined; key = await this.next()) {
        await this.work(key, handle);
      }
    };
    await Promise.all(Array.from({ length: workerCount }, worker));
  }

  /** No more keys are handed out; `run` resolves when its workers are through. */
  shutDown(): void {
    this.stopped = true;
    for (const { timer } of this.delayed.values()) timer.cancel();
    this.delayed.clear();
    this.ready.clear();
    this.again.clear();
    const waiters = this.waiters;
    this.waiters = [];
    for (const wake of waiters) wake(undefined);
  }

  private async work(
    key: string,
    handle: (key: string) => Promise<number | undefined>,
  ): Promise<void> {
    try {
      const againAfterMs = await handle(key);
      this.forget(key);
      if (againAfterMs !== undefined) this.addAfter(key, againAfterMs);
    } catch (error) {
      const level = isCacheBehind(error) ? 'debug' : 'warn';
      this.options.logger?.[level](
        { err: error, queue: this.options.name, key, failures: this.failureCount(key) + 1 },
        'reconcile failed, will be tried again',
      );
      this.addRateLimited(key);
    } finally {
      this.done(key);
    }
  }

  /** Timers hold at most about 24 days; a longer delay is waited for in parts. */
  private armTimer(key: string, dueMs: number): void {
    const remainingMs = Math.max(0, dueMs - this.clock.monotonicMs());
    const timer = this.clock.setTimer(Math.min(remainingMs, 2 ** 31 - 1), () => {
      this.delayed.delete(key);
      if (this.clock.monotonicMs() < dueMs - 1) this.armTimer(key, dueMs);
      else this.add(key);
    });
    this.delayed.set(key, { dueMs, timer });
  }

  private refuseWhenFull(): void {
    const keyCountMax = this.options.keyCountMax ?? limits.queueKeyCountMax;
    if (this.ready.size + this.delayed.size < keyCountMax) return;
    throw new QueueFullError(`work queue ${this.options.name} holds ${keyCountMax} keys already`);
  }
}

/** Changed, made or removed meanwhile: the next attempt will know better. */
function isCacheBehind(error: unknown): boolean {
  return isConflict(error) || isAlreadyExists(error) || isNotFound(error);
}
