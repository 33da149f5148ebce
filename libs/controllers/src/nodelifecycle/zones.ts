/**
 * How fast the nodes of a zone may be emptied. Pure. Where most of a zone is down, the fault is rather in
 * the network than in its nodes: eviction slows down or stops. Where everything is down everywhere, it
 * is we who are cut off: nothing is evicted at all.
 */
import { dialect } from '@orch/component';
import type { Node } from '@orch/types/core/v1';
import { type Readiness, readinessOf } from './node-conditions.js';

export type ZoneState = 'Normal' | 'PartialDisruption' | 'FullDisruption';

export interface EvictionRates {
  readonly normalQps: number;
  readonly secondaryQps: number;
  /** Nodes above which a zone is large. */
  readonly largeZoneSize: number;
  /** Share of nodes not ready from which a zone is disrupted. */
  readonly unhealthyShare: number;
}

export function zoneOf(node: Node): string {
  const labels = node.metadata?.labels ?? {};
  const region = labels[dialect().key('region', 'topology')] ?? '';
  const zone = labels[dialect().key('zone', 'topology')] ?? '';
  return `${region}/${zone}`;
}

function zoneState(readiness: readonly Readiness[], unhealthyShare: number): ZoneState {
  const notReady = readiness.filter((one) => one !== 'True').length;
  if (notReady > 0 && notReady === readiness.length) return 'FullDisruption';
  const isDisrupted = notReady > 2 && notReady / readiness.length >= unhealthyShare;
  return isDisrupted ? 'PartialDisruption' : 'Normal';
}

export interface ClusterState {
  readonly states: ReadonlyMap<string, ZoneState>;
  /** Nodes a second, by zone. */
  readonly qps: ReadonlyMap<string, number>;
  readonly isCutOff: boolean;
}

export function clusterState(nodes: readonly Node[], rates: EvictionRates): ClusterState {
  const zones = new Map<string, Readiness[]>();
  for (const node of nodes) {
    const zone = zoneOf(node);
    zones.set(zone, [...(zones.get(zone) ?? []), readinessOf(node)]);
  }
  const states = new Map(
    [...zones].map(([zone, readiness]) => [zone, zoneState(readiness, rates.unhealthyShare)]),
  );
  const isCutOff =
    states.size > 0 && [...states.values()].every((state) => state === 'FullDisruption');
  const qps = new Map(
    [...zones].map(([zone, readiness]) => {
      if (isCutOff) return [zone, 0];
      if (states.get(zone) !== 'PartialDisruption') return [zone, rates.normalQps];
      return [zone, readiness.length > rates.largeZoneSize ? rates.secondaryQps : 0];
    }),
  );
  return { states, qps, isCutOff };
}
