/**
 * Eviction rates of the nodes in each zone. Pure. If most nodes of a zone are not ready, the
 * network is more likely at fault than the nodes: eviction slows down or stops. If no node of any
 * zone is ready, this process is probably partitioned: it evicts nothing.
 */
import { dialect } from '@orch/component';
import type { Node } from '@orch/types/core/v1';
import type { Readiness } from './node-conditions.js';

export type ZoneState = 'Normal' | 'PartialDisruption' | 'FullDisruption';

export interface EvictionRates {
  readonly normalQps: number;
  readonly secondaryQps: number;
  /** Nodes above which a zone is large. */
  readonly largeZoneSize: number;
  /** Share of nodes not ready from which a zone is disrupted. */
  readonly unhealthyShare: number;
}

export interface Zone {
  readonly state: ZoneState;
  readonly nodeCount: number;
  readonly unhealthyCount: number;
  /** Nodes a second. */
  readonly qps: number;
}

export interface ClusterState {
  readonly zones: ReadonlyMap<string, Zone>;
  readonly isPartitioned: boolean;
}

/** Returns the key of the node's zone; empty without labels of region and zone. */
export function zoneOf(node: Node): string {
  const labels = node.metadata?.labels ?? {};
  const label = (name: string) =>
    labels[dialect().key(name, 'failure-domain.beta')] ??
    labels[dialect().key(name, 'topology')] ??
    '';
  const region = label('region');
  const zone = label('zone');
  return region === '' && zone === '' ? '' : `${region}:\0:${zone}`;
}

/** Whether the node does not count for the state of its zone. */
function isExcluded({ metadata }: Node): boolean {
  return metadata?.labels?.[dialect().key('exclude-disruption', 'node')] !== undefined;
}

function zoneState(nodeCount: number, unhealthyCount: number, unhealthyShare: number): ZoneState {
  if (unhealthyCount > 0 && unhealthyCount === nodeCount) return 'FullDisruption';
  const isDisrupted = unhealthyCount > 2 && unhealthyCount / nodeCount >= unhealthyShare;
  return isDisrupted ? 'PartialDisruption' : 'Normal';
}

function zoneQps(state: ZoneState, nodeCount: number, rates: EvictionRates): number {
  if (state !== 'PartialDisruption') return rates.normalQps;
  return nodeCount > rates.largeZoneSize ? rates.secondaryQps : 0;
}

/** `nodes`: each node with its readiness. */
export function clusterState(
  nodes: Iterable<readonly [Node, Readiness]>,
  rates: EvictionRates,
): ClusterState {
  const counts = new Map<string, { nodeCount: number; unhealthyCount: number }>();
  for (const [node, readiness] of nodes) {
    const key = zoneOf(node);
    const count = counts.get(key) ?? { nodeCount: 0, unhealthyCount: 0 };
    counts.set(key, count);
    if (isExcluded(node)) continue;
    count.nodeCount += 1;
    if (readiness !== 'True') count.unhealthyCount += 1;
  }
  const all = [...counts].map(([key, { nodeCount, unhealthyCount }]) => {
    const state = zoneState(nodeCount, unhealthyCount, rates.unhealthyShare);
    return { key, state, nodeCount, unhealthyCount };
  });
  const counted = all.filter(({ nodeCount }) => nodeCount > 0);
  const isPartitioned =
    counted.length > 0 && counted.every(({ state }) => state === 'FullDisruption');
  const zones = new Map(
    all.map(({ key, ...zone }) => {
      const qps = isPartitioned ? 0 : zoneQps(zone.state, zone.nodeCount, rates);
      return [key, { ...zone, qps }];
    }),
  );
  return { zones, isPartitioned };
}
