/**
 * A queue of keys to reconcile. Each key is queued at most once and processed by one worker at a
 * time. A key added while in work is queued again when its worker is done.
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
  /** Rate limit of retries over all keys. */
  retryQps?: number;
  retryBurst?: number;
  /** Ready and delayed keys; `add` of another one throws a `QueueFullError`. */
  keyCountMax?: number;
}

export class QueueFullError extends Error {
  override readonly name = 'QueueFullError';
}

interface Delayed {
  readonly dueMs: number;
  readonly timer: Timer;
}

/** The content of a queue, for people. Times are in seconds. */
export interface QueueView {
  readonly name: string;
  readonly readyCount: number;
  readonly delayedCount: number;
  /** The keys in work and how long; the first ready keys; the first delayed keys and when. */
  readonly inWork: Readonly<Record<string, number>>;
  readonly ready: readonly string[];
  readonly delayed: Readonly<Record<string, number>>;
}

export class WorkQueue implements QueueState {
  /** Ready keys in order, with the time of their addition. */
  private readonly ready = new Map<string, number>();
  /** Keys in work, with the start of the work. */
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

  /** Whether no key is ready or in work. Delayed keys do not count. */
  get isIdle(): boolean {
    return this.ready.size === 0 && this.inWork.size === 0;
  }

  /** Names at most `keyCountMax` keys of each state. */
  view(keyCountMax: number): QueueView {
    const nowMs = this.clock.monotonicMs();
    const first = <T>(entries: Iterable<T>) => [...entries].slice(0, keyCountMax);
    const times = (entries: Iterable<[string, number]>) =>
      Object.fromEntries(first(entries).map(([key, ms]) => [key, ms / 1_000] as const));
    return {
      name: this.options.name,
      readyCount: this.ready.size,
      delayedCount: this.delayed.size,
      inWork: times([...this.inWork].map(([key, sinceMs]) => [key, nowMs - sinceMs])),
      ready: first(this.ready.keys()),
      delayed: times([...this.delayed].map(([key, { dueMs }]) => [key, dueMs - nowMs])),
    };
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

  /** Adds after `delayMs`. If a key has several delays, the earliest applies. */
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

  /** Adds after the back-off of the key and the overall rate limit. */
  addRateLimited(key: string): void {
    this.observer?.retried();
    const overallMs = this.retryLimit.reserve(this.clock.monotonicMs());
    this.addAfter(key, Math.max(this.backoff.next(key), overallMs));
  }

  /** Resets the back-off of the key, after a success. */
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
   * Runs `workerCount` workers until shut down. If `handle` throws, the key is retried with
   * back-off; if it returns a number of milliseconds, the key is added again after that
   * delay.
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

  /** Discards all keys that are not in work; `run` resolves when the work in flight is done. */
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
        'reconcile failed, retrying with back-off',
      );
      this.addRateLimited(key);
    } finally {
      this.done(key);
    }
  }

  /** Timers hold at most about 24 days; a longer delay takes several. */
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
    throw new QueueFullError(
      `work queue ${this.options.name} is full: it holds ${keyCountMax} keys`,
    );
  }
}

/** Whether another writer changed the object, so that the next attempt reads a newer cache. */
function isCacheBehind(error: unknown): boolean {
  return isConflict(error) || isAlreadyExists(error) || isNotFound(error);
}
