/**
 * Remembers the results of a webhook for a time that depends on the result. Equal reviews in flight
 * share one request. Errors are not remembered.
 */
import { createHash } from 'node:crypto';
import type { Clock } from '@orch/component';
import { LRUCache } from 'lru-cache';
import { reviewCacheEntriesMax } from '../limits.js';

export interface ReviewCacheOptions<T> {
  readonly clock: Clock;
  /** Whether the result accepts; accepted and rejected results have a memory each. */
  readonly isAccepted: (result: T) => boolean;
  /** 0: not remembered. */
  readonly acceptedMs: number;
  /** 0: not remembered. */
  readonly rejectedMs: number;
  readonly observer?: ReviewCacheObserver;
}

/** Notified of lookups. Called synchronously on the request path. */
export interface ReviewCacheObserver {
  lookedUp(status: 'hit' | 'miss', seconds: number): void;
  fetchBegan(): void;
  fetchEnded(status: 'ok' | 'error'): void;
}

interface Remembered<T> {
  readonly result: T;
  /** On the monotonic clock. */
  readonly untilMs: number;
}

export class ReviewCache<T> {
  private readonly accepted = new LRUCache<string, Remembered<T>>({ max: reviewCacheEntriesMax });
  private readonly rejected = new LRUCache<string, Remembered<T>>({ max: reviewCacheEntriesMax });
  private readonly inFlight = new Map<string, Promise<T>>();

  constructor(private readonly options: ReviewCacheOptions<T>) {}

  /** The remembered result of `review`, or that of `fetch`. Rejects as `fetch`. */
  async get(review: string, fetch: () => Promise<T>): Promise<T> {
    const { clock, observer } = this.options;
    const startMs = clock.monotonicMs();
    // Memory holds digests, because reviews contain tokens.
    const key = createHash('sha256').update(review).digest('base64');
    const known = this.remembered(this.accepted, key) ?? this.remembered(this.rejected, key);
    if (known) {
      observer?.lookedUp('hit', (clock.monotonicMs() - startMs) / 1_000);
      return known.result;
    }
    try {
      return await this.shared(key, fetch);
    } finally {
      observer?.lookedUp('miss', (clock.monotonicMs() - startMs) / 1_000);
    }
  }

  private remembered(
    results: LRUCache<string, Remembered<T>>,
    key: string,
  ): Remembered<T> | undefined {
    const found = results.get(key);
    if (!found || this.options.clock.monotonicMs() < found.untilMs) return found;
    results.delete(key);
    return undefined;
  }

  private shared(key: string, fetch: () => Promise<T>): Promise<T> {
    const pending = this.inFlight.get(key);
    if (pending) return pending;
    const fetched = this.fetch(key, fetch).finally(() => this.inFlight.delete(key));
    this.inFlight.set(key, fetched);
    return fetched;
  }

  private async fetch(key: string, fetch: () => Promise<T>): Promise<T> {
    const { clock, isAccepted, acceptedMs, rejectedMs, observer } = this.options;
    observer?.fetchBegan();
    let status: 'ok' | 'error' = 'error';
    try {
      const result = await fetch();
      status = 'ok';
      const [results, forMs] = isAccepted(result)
        ? [this.accepted, acceptedMs]
        : [this.rejected, rejectedMs];
      if (forMs > 0) results.set(key, { result, untilMs: clock.monotonicMs() + forMs });
      return result;
    } finally {
      observer?.fetchEnded(status);
    }
  }
}
