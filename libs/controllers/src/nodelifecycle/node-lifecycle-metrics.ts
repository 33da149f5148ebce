/** Metrics of the health of zones and of evictions, with the upstream names. */
import type { Counter, Gauge, Metrics } from '@orch/component';
import type { Zone } from './zones.js';

export class NodeLifecycleMetrics {
  private readonly health: Gauge<'zone'>;
  private readonly size: Gauge<'zone'>;
  private readonly unhealthy: Gauge<'zone'>;
  private readonly evictions: Counter<'zone'>;
  private known = new Set<string>();

  constructor(metrics: Metrics) {
    const labels = ['zone'] as const;
    this.health = metrics.gauge({
      name: 'node_collector_zone_health',
      help: 'Percentage of ready nodes per zone.',
      labels,
    });
    this.size = metrics.gauge({
      name: 'node_collector_zone_size',
      help: 'Number of registered nodes per zone.',
      labels,
    });
    this.unhealthy = metrics.gauge({
      name: 'node_collector_unhealthy_nodes_in_zone',
      help: 'Number of nodes that are not ready per zone.',
      labels,
    });
    this.evictions = metrics.counter({
      name: 'node_collector_evictions_number',
      help: 'Number of evicted nodes since the start of this process.',
      labels,
    });
  }

  observe(zones: ReadonlyMap<string, Zone>): void {
    for (const [zone, { nodeCount, unhealthyCount }] of zones) {
      const ready = nodeCount - unhealthyCount;
      this.set(zone, nodeCount, unhealthyCount, nodeCount > 0 ? (100 * ready) / nodeCount : 100);
    }
    for (const zone of this.known) {
      if (!zones.has(zone)) this.set(zone, 0, 0, 100);
    }
    this.known = new Set(zones.keys());
  }

  evicted(zone: string): void {
    this.evictions.inc({ zone });
  }

  private set(zone: string, nodeCount: number, unhealthyCount: number, health: number): void {
    this.size.set({ zone }, nodeCount);
    this.unhealthy.set({ zone }, unhealthyCount);
    this.health.set({ zone }, health);
  }
}
