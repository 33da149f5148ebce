/** Flags of the node lifecycle: when a node counts as lost, and how fast its pods are evicted. */
import { Flag } from '@orch/component';
import { IsInt, Max, Min } from 'class-validator';

export class NodeOptions {
  @Flag({
    name: 'enable-taint-manager',
    description:
      'taint lost nodes with NoExecute and evict the pods that do not tolerate the taint; without it, all pods of a lost node are deleted after --pod-eviction-timeout',
    default: true,
  })
  enableTaintManager!: boolean;

  @Flag({
    name: 'node-monitor-period',
    description:
      'how often the health of nodes is checked. Higher: failures are noticed later. Lower: more work.',
    default: '5s',
    type: 'duration',
  })
  @Min(100)
  nodeMonitorPeriodMs!: number;

  @Flag({
    name: 'node-monitor-grace-period',
    description:
      'how long a node may be silent before it counts as unknown; lower: short outages move pods, higher: dead nodes keep theirs longer',
    default: '40s',
    type: 'duration',
  })
  @Min(1_000)
  nodeMonitorGraceMs!: number;

  @Flag({
    name: 'node-startup-grace-period',
    description: 'the same for a node that has never reported',
    default: '1m0s',
    type: 'duration',
  })
  @Min(1_000)
  nodeStartupGraceMs!: number;

  @Flag({
    name: 'pod-eviction-timeout',
    description:
      'how long a node may be lost before its pods are deleted, if --enable-taint-manager is false. Higher: pods of dead nodes are replaced later. Lower: short outages move pods.',
    default: '5m0s',
    type: 'duration',
  })
  @Min(0)
  podEvictionTimeoutMs!: number;

  @Flag({
    name: 'node-eviction-rate',
    description:
      'nodes evicted per second in a healthy zone; 0 evicts none. Higher: a false alarm moves more pods. Lower: pods of lost nodes are replaced later.',
    default: 0.1,
  })
  @Min(0)
  nodeEvictionRate!: number;

  @Flag({
    name: 'secondary-node-eviction-rate',
    description:
      'the same in a large zone of which much is not ready; small zones evict none then. Higher: an outage of the network evicts more nodes. Lower: pods of lost nodes are replaced later.',
    default: 0.01,
  })
  @Min(0)
  secondaryNodeEvictionRate!: number;

  @Flag({
    name: 'unhealthy-zone-threshold',
    description:
      'share of nodes not ready from which a zone is unhealthy. Higher: an outage of the network evicts more nodes. Lower: eviction slows down after fewer failures.',
    default: 0.55,
  })
  @Min(0)
  @Max(1)
  unhealthyZoneThreshold!: number;

  @Flag({
    name: 'large-cluster-size-threshold',
    description:
      'nodes above which a zone is large: it evicts at the secondary rate when it is unhealthy. Higher: more zones stop evicting. Lower: smaller zones continue to evict.',
    default: 50,
  })
  @IsInt()
  @Min(0)
  largeClusterSizeThreshold!: number;
}
