/**
 * What a controller has asked for and not yet seen in its cache. While anything is outstanding the cache
 * is known to be behind, and counting from it would do the same work twice. Expectations that are not
 * met within five minutes are taken as lost and ignored.
 */
import type { Clock } from '@orch/component';

interface Expected {
  creationCount: number;
  /** Keys of the objects whose deletion is awaited. */
  readonly deletions: Set<string>;
  readonly sinceMs: number;
}

const timeoutMs = 300_000;

export class Expectations {
  private readonly expected = new Map<string, Expected>();

  constructor(private readonly clock: Clock) {}

  expectCreations(owner: string, count: number): void {
    this.expected.set(owner, {
      creationCount: count,
      deletions: new Set(),
      sinceMs: this.clock.monotonicMs(),
    });
  }

  expectDeletions(owner: string, keys: Iterable<string>): void {
    this.expected.set(owner, {
      creationCount: 0,
      deletions: new Set(keys),
      sinceMs: this.clock.monotonicMs(),
    });
  }

  /** A creation was seen, or did not happen. */
  creationObserved(owner: string, count = 1): void {
    const expected = this.expected.get(owner);
    if (expected) expected.creationCount = Math.max(0, expected.creationCount - count);
  }

  /** A deletion was seen, or did not happen. */
  deletionObserved(owner: string, key: string): void {
    this.expected.get(owner)?.deletions.delete(key);
  }

  satisfied(owner: string): boolean {
    const expected = this.expected.get(owner);
    if (!expected) return true;
    if (expected.creationCount === 0 && expected.deletions.size === 0) return true;
    return this.clock.monotonicMs() - expected.sinceMs > timeoutMs;
  }

  forget(owner: string): void {
    this.expected.delete(owner);
  }
}
