/**
 * Values kept for a while each, at most so many. One computation serves all who ask for the same key at
 * the same time; a failed one is not kept. The oldest entry goes when there is no room.
 */
import type { Clock } from '../clock.js';

interface Entry<Value> {
  readonly value: Promise<Value>;
  expiresMs: number;
}

export class ExpiringCache<Value> {
  private readonly entries = new Map<string, Entry<Value>>();

  constructor(
    private readonly entryCountMax: number,
    private readonly clock: Clock,
  ) {}

  /** The kept value, or that of `compute`, which says how long it may be kept. */
  get(key: string, compute: () => Promise<{ value: Value; ttlMs: number }>): Promise<Value> {
    const kept = this.entries.get(key);
    if (kept && kept.expiresMs > this.clock.monotonicMs()) return kept.value;
    this.entries.delete(key);
    if (this.entries.size >= this.entryCountMax) {
      const oldest = this.entries.keys().next();
      if (!oldest.done) this.entries.delete(oldest.value);
    }
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
        if (this.entries.get(key) === entry) this.entries.delete(key);
      },
    );
    return entry.value;
  }
}
