/**
 * Selects the endpoint of a new connection: round-robin or, with session affinity, the last
 * endpoint of the client. Selects only endpoints of the newest set. Pure: the caller passes the
 * time.
 */
import { LRUCache } from 'lru-cache';
import { affinityEntryCountMax } from '../limits.js';

export interface Endpoint {
  readonly ip: string;
  readonly port: number;
}

interface Affinity {
  readonly key: string;
  usedMs: number;
}

export function endpointKey({ ip, port }: Endpoint): string {
  return `${ip} ${port}`;
}

export class EndpointPicker {
  private endpoints: readonly Endpoint[] = [];
  private byKey = new Map<string, Endpoint>();
  private next = 0;
  private affinityTimeoutMs: number | undefined;
  /**
   * By client. Bounded by `maxSize`, because `max` would allocate the memory of all entries in
   * advance.
   */
  private readonly affinities = new LRUCache<string, Affinity>({
    maxSize: affinityEntryCountMax,
    sizeCalculation: () => 1,
  });

  /**
   * Sets the endpoints. `affinityTimeoutMs` is the timeout of session affinity; undefined disables
   * it.
   */
  update(endpoints: readonly Endpoint[], affinityTimeoutMs: number | undefined): void {
    const sorted = [...endpoints].sort((left, right) =>
      endpointKey(left) < endpointKey(right) ? -1 : 1,
    );
    // The next endpoint remains the next, so that changes of the set do not favour its first
    // member.
    const upcoming = this.endpoints[this.next % Math.max(1, this.endpoints.length)];
    this.endpoints = sorted;
    this.byKey = new Map(sorted.map((endpoint) => [endpointKey(endpoint), endpoint]));
    const position = upcoming
      ? sorted.findIndex((endpoint) => endpointKey(endpoint) >= endpointKey(upcoming))
      : 0;
    this.next = Math.max(0, position);
    this.affinityTimeoutMs = affinityTimeoutMs;
    if (affinityTimeoutMs === undefined) this.affinities.clear();
  }

  get endpointCount(): number {
    return this.endpoints.length;
  }

  has(endpoint: Endpoint): boolean {
    return this.byKey.has(endpointKey(endpoint));
  }

  /** Returns an endpoint whose `endpointKey` is not in `excluded`; undefined if there is none. */
  pick(client: string, nowMs: number, excluded?: ReadonlySet<string>): Endpoint | undefined {
    const previous = this.affineEndpoint(client, nowMs, excluded);
    if (previous) return previous;
    const { length } = this.endpoints;
    for (let step = 0; step < length; step += 1) {
      const endpoint = this.endpoints[this.next % length]!;
      this.next = (this.next + 1) % length;
      const key = endpointKey(endpoint);
      if (excluded?.has(key)) continue;
      if (this.affinityTimeoutMs !== undefined) this.affinities.set(client, { key, usedMs: nowMs });
      return endpoint;
    }
    return undefined;
  }

  /** Returns the last endpoint of the client, unless it is removed, excluded or expired. */
  private affineEndpoint(
    client: string,
    nowMs: number,
    excluded: ReadonlySet<string> | undefined,
  ): Endpoint | undefined {
    const affinity = this.affinities.get(client);
    if (!affinity || this.affinityTimeoutMs === undefined) return undefined;
    const endpoint = this.byKey.get(affinity.key);
    const hasExpired = nowMs - affinity.usedMs > this.affinityTimeoutMs;
    if (!endpoint || hasExpired || excluded?.has(affinity.key)) {
      this.affinities.delete(client);
      return undefined;
    }
    affinity.usedMs = nowMs;
    return endpoint;
  }
}
