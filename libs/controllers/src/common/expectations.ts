/**
 * Creations and deletions that a controller has requested and not yet seen in its cache. While any
 * is outstanding, the cache is behind, and acting on it would repeat the requests. Expectations
 * that are not met within five minutes count as lost and no longer block.
 */
import type { Clock } from '@orch/component';

interface Expected {
  creationCount: number;
  /** Keys of the objects whose deletion is outstanding. */
  readonly deletions: Set<string>;
  readonly sinceMs: number;
}

const timeoutMs = 300_000;

export class Expectations {
  private readonly expected = new Map<string, Expected>();

  constructor(private readonly clock: Clock) {}

  /** Replaces the expectations of `owner`. `deletions` are the keys of the deleted objects. */
  expect(owner: string, creationCount: number, deletions: Iterable<string>): void {
    this.expected.set(owner, {
      creationCount,
      deletions: new Set(deletions),
      sinceMs: this.clock.monotonicMs(),
    });
  }

  expectCreations(owner: string, count: number): void {
    this.expect(owner, count, []);
  }

  expectDeletions(owner: string, keys: Iterable<string>): void {
    this.expect(owner, 0, keys);
  }

  /** Counts creations that the cache has seen or that failed. */
  creationObserved(owner: string, count = 1): void {
    const expected = this.expected.get(owner);
    if (expected) expected.creationCount = Math.max(0, expected.creationCount - count);
  }

  /** Notes a deletion that the cache has seen or that failed. */
  deletionObserved(owner: string, key: string): void {
    this.expected.get(owner)?.deletions.delete(key);
  }

  satisfied(owner: string): boolean {
    const expected = this.expected.get(owner);
    if (!expected) return true;
    if (expected.creationCount === 0 && expected.deletions.size === 0) return true;
    return this.clock.monotonicMs() - expected.sinceMs > timeoutMs;
  }

  /** How long ago the latest expectations of `owner` began; 0 without any. */
  ageMs(owner: string): number {
    const { sinceMs = this.clock.monotonicMs() } = this.expected.get(owner) ?? {};
    return this.clock.monotonicMs() - sinceMs;
  }

  forget(owner: string): void {
    this.expected.delete(owner);
  }
}
