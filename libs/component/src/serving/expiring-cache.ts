/**
 * A cache whose values expire. Concurrent requests for a key share one computation, a failed
 * computation is not cached, and a full cache evicts the least recently used entry.
 */
import { LRUCache } from 'lru-cache';
import type { Clock } from '../clock.js';

interface Entry<Value> {
  readonly value: Promise<Value>;
  expiresMs: number;
}

export class ExpiringCache<Value> {
  private readonly entries: LRUCache<string, Entry<Value>>;

  constructor(
    entryCountMax: number,
    private readonly clock: Clock,
  ) {
    this.entries = new LRUCache({ max: entryCountMax });
  }

  /** Returns the cached value, or that of `compute` with the time to cache it. */
  get(key: string, compute: () => Promise<{ value: Value; ttlMs: number }>): Promise<Value> {
    const cached = this.entries.get(key);
    if (cached && cached.expiresMs > this.clock.monotonicMs()) return cached.value;
    const computed = compute();
    const entry: Entry<Value> = {
      value: computed.then(({ value }) => value),
      expiresMs: Number.POSITIVE_INFINITY,
    };
    this.entries.set(key, entry);
    computed.then(
      ({ ttlMs }) => {
        entry.expiresMs = this.clock.monotonicMs() + ttlMs;
      },
      () => {
        // The caller gets the error through `value`; only the entry is dropped here.
        if (this.entries.peek(key) === entry) this.entries.delete(key);
      },
    );
    return entry.value;
  }
}
