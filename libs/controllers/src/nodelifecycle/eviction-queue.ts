/**
 * Nodes that wait for their eviction, released as fast as the rate of their zone allows. Pure. A
 * change of the rate grants no additional eviction, so that a zone that alternates between two
 * states evicts no faster than one that does not.
 */
import { TokenBucket } from '@orch/client';

interface Limit {
  readonly qps: number;
  /** Undefined if the rate is 0. */
  readonly bucket: TokenBucket | undefined;
}

export class EvictionQueue {
  private readonly limits = new Map<string, Limit>();
  /** Zones by name of the node, in the order of their addition. */
  private readonly pending = new Map<string, string>();

  get isEmpty(): boolean {
    return this.pending.size === 0;
  }

  /** Sets the rate of each zone, in nodes a second; others are forgotten. */
  setRates(rates: Iterable<readonly [string, number]>, nowMs: number): void {
    const wanted = new Map(rates);
    for (const zone of this.limits.keys()) {
      if (!wanted.has(zone)) this.limits.delete(zone);
    }
    for (const [zone, qps] of wanted) {
      const old = this.limits.get(zone);
      if (old?.qps === qps) continue;
      const bucket = qps > 0 ? new TokenBucket(qps, 1, nowMs) : undefined;
      if (old && !old.bucket?.tryTake(nowMs)) bucket?.tryTake(nowMs);
      this.limits.set(zone, { qps, bucket });
    }
  }

  /** @returns whether the node was not pending. */
  add(node: string, zone: string): boolean {
    const isNew = !this.pending.has(node);
    this.pending.set(node, zone);
    return isNew;
  }

  delete(node: string): void {
    this.pending.delete(node);
  }

  /** Returns the nodes to evict now. They remain pending until they are deleted. */
  due(nowMs: number): string[] {
    const due: string[] = [];
    for (const [node, zone] of this.pending) {
      if (this.limits.get(zone)?.bucket?.tryTake(nowMs)) due.push(node);
    }
    return due;
  }
}
