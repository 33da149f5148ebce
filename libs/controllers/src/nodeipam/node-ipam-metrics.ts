/** Metrics of the ranges of each cluster CIDR, with the upstream names. */
import { type Counter, exponentialBuckets, type Gauge, type Metrics } from '@orch/component';
import type { CidrSet } from './cidr-set.js';

export class NodeIpamMetrics {
  private readonly allocations: Counter<'clusterCIDR'>;
  private readonly releases: Counter<'clusterCIDR'>;
  private readonly usage: Gauge<'clusterCIDR'>;
  private readonly tries: { observe(labels: { clusterCIDR: string }, value: number): void };
  private readonly usedCounts = new Map<CidrSet, number>();

  constructor(
    metrics: Metrics,
    private readonly sets: readonly CidrSet[],
  ) {
    const labels = ['clusterCIDR'] as const;
    const name = (suffix: string) => `node_ipam_controller_cidrset_${suffix}`;
    this.allocations = metrics.counter({
      name: name('cidrs_allocations_total'),
      help: 'Number of ranges that became used.',
      labels,
    });
    this.releases = metrics.counter({
      name: name('cidrs_releases_total'),
      help: 'Number of ranges that became free.',
      labels,
    });
    this.usage = metrics.gauge({
      name: name('usage_cidrs'),
      help: 'Share of the ranges that are used, from 0 to 1.',
      labels,
    });
    this.tries = metrics.histogram({
      name: name('allocation_tries_per_request'),
      help: 'Number of ranges found used before a free one, per allocation.',
      labels,
      buckets: exponentialBuckets(1, 5, 5),
    });
    this.update();
  }

  allocated(tries: readonly { readonly cidr: string; readonly triedCount: number }[]): void {
    for (const { cidr, triedCount } of tries) this.tries.observe({ clusterCIDR: cidr }, triedCount);
    this.update();
  }

  /** Records the present use of all sets. */
  update(): void {
    for (const set of this.sets) {
      const labels = { clusterCIDR: set.cidr };
      const change = set.usedCount - (this.usedCounts.get(set) ?? 0);
      this.usedCounts.set(set, set.usedCount);
      if (change > 0) this.allocations.inc(labels, change);
      if (change < 0) this.releases.inc(labels, -change);
      this.usage.set(labels, set.usedCount / set.partCount);
    }
  }
}
