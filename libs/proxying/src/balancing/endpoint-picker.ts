/**
 * Chooses the endpoint of a new connection: in turn, or, with session affinity, the one the client had
 * last. Only endpoints of the newest set are ever chosen. Pure: time comes from outside.
 */
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
  private readonly affinities = new Map<string, Affinity>();

  /** `affinityTimeoutMs`: how long a client keeps its endpoint; undefined: each connection is new. */
  update(endpoints: readonly Endpoint[], affinityTimeoutMs: number | undefined): void {
    const sorted = [...endpoints].sort((left, right) =>
      endpointKey(left) < endpointKey(right) ? -1 : 1,
    );
    // Whoever was next stays next: a change of the set does not favour its first member.
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

  /** Undefined if there is none but those in `excluded` (by `endpointKey`). */
  pick(client: string, nowMs: number, excluded?: ReadonlySet<string>): Endpoint | undefined {
    const kept = this.keptEndpoint(client, nowMs, excluded);
    if (kept) return kept;
    const { length } = this.endpoints;
    for (let step = 0; step < length; step += 1) {
      const endpoint = this.endpoints[this.next % length]!;
      this.next = (this.next + 1) % length;
      const key = endpointKey(endpoint);
      if (excluded?.has(key)) continue;
      if (this.affinityTimeoutMs !== undefined) this.keep(client, key, nowMs);
      return endpoint;
    }
    return undefined;
  }

  private keptEndpoint(
    client: string,
    nowMs: number,
    excluded: ReadonlySet<string> | undefined,
  ): Endpoint | undefined {
    const affinity = this.affinities.get(client);
    if (!affinity || this.affinityTimeoutMs === undefined) return undefined;
    const endpoint = this.byKey.get(affinity.key);
    const isOver = nowMs - affinity.usedMs > this.affinityTimeoutMs;
    if (!endpoint || isOver || excluded?.has(affinity.key)) {
      this.affinities.delete(client);
      return undefined;
    }
    this.keep(client, affinity.key, nowMs);
    return endpoint;
  }

  /** Kept in order of use; the client not seen for longest gives way. */
  private keep(client: string, key: string, nowMs: number): void {
    this.affinities.delete(client);
    if (this.affinities.size >= affinityEntryCountMax) {
      const oldest = this.affinities.keys().next();
      if (!oldest.done) this.affinities.delete(oldest.value);
    }
    this.affinities.set(client, { key, usedMs: nowMs });
  }
}
