/** Flags of the controllers: which run, how wide, and the times they keep. */
import { Flag } from '@orch/component';
import { IsInt, Max, Min } from 'class-validator';

const concurrency = (name: string, what: string, count: number) =>
  Flag({
    name: `concurrent-${name}-syncs`,
    description: `${what} worked on at once; higher: more load on this process and the API server, lower: changes wait longer`,
    default: count,
  });

export class ControllersOptions {
  @Flag({
    name: 'controllers',
    description:
      "controllers to run: '*' is all that run by default, 'foo' runs foo, '-foo' does not run it",
    default: '*',
  })
  controllers!: string[];

  @concurrency('deployment', 'deployments', 5)
  @IsInt()
  @Min(1)
  @Max(1_000)
  deploymentSyncs!: number;

  @concurrency('replicaset', 'replica sets', 5)
  @IsInt()
  @Min(1)
  @Max(1_000)
  replicaSetSyncs!: number;

  @concurrency('endpoint', 'services', 5)
  @IsInt()
  @Min(1)
  @Max(1_000)
  endpointSyncs!: number;

  @concurrency('namespace', 'namespaces', 10)
  @IsInt()
  @Min(1)
  @Max(1_000)
  namespaceSyncs!: number;

  @concurrency('resource-quota', 'quotas', 5)
  @IsInt()
  @Min(1)
  @Max(1_000)
  resourceQuotaSyncs!: number;

  @concurrency('gc', 'objects the garbage collector has', 20)
  @IsInt()
  @Min(1)
  @Max(1_000)
  garbageCollectorSyncs!: number;

  @Flag({
    name: 'root-ca-file',
    description:
      "PEM authority of the API's certificate, published in every namespace for pods; without it that of the kubeconfig",
    default: '',
  })
  rootCaFile!: string;

  @Flag({
    name: 'enable-garbage-collector',
    description: 'delete objects whose owners are gone; without it nothing cascades',
    default: true,
  })
  enableGarbageCollector!: boolean;

  @Flag({
    name: 'enable-taint-manager',
    description: 'evict pods from nodes with NoExecute taints that they do not tolerate',
    default: true,
  })
  enableTaintManager!: boolean;

  @Flag({
    name: 'namespace-sync-period',
    description:
      'longest wait before a namespace that is being deleted is looked at again; lower: more requests while it waits',
    default: '5m0s',
    type: 'duration',
  })
  @Min(1_000)
  namespaceSyncPeriodMs!: number;

  @Flag({
    name: 'resource-quota-sync-period',
    description:
      'how often every quota is recounted whatever happens; lower: more requests, higher: what was charged for nothing stays so longer',
    default: '5m0s',
    type: 'duration',
  })
  @Min(1_000)
  resourceQuotaSyncPeriodMs!: number;

  @Flag({
    name: 'min-resync-period',
    description:
      'every object is reconciled again after one to two times this; lower: more work without cause, higher: a missed change stays longer',
    default: '12h0m0s',
    type: 'duration',
  })
  @Min(1_000)
  minResyncPeriodMs!: number;

  @Flag({
    name: 'node-monitor-period',
    description:
      'how often the state of nodes is judged; lower: more work, higher: failures are seen later',
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
    name: 'node-eviction-rate',
    description:
      'nodes a second whose pods are moved when their zone is healthy; higher: a false alarm moves more',
    default: 0.1,
  })
  @Min(0)
  nodeEvictionRate!: number;

  @Flag({
    name: 'secondary-node-eviction-rate',
    description:
      'the same when much of a large zone is down; small zones stop altogether; higher: an outage of the network empties more nodes',
    default: 0.01,
  })
  @Min(0)
  secondaryNodeEvictionRate!: number;

  @Flag({
    name: 'unhealthy-zone-threshold',
    description:
      'share of nodes not ready at which a zone counts as failing; lower: eviction slows down sooner',
    default: 0.55,
  })
  @Min(0)
  @Max(1)
  unhealthyZoneThreshold!: number;

  @Flag({
    name: 'large-cluster-size-threshold',
    description: 'nodes in a zone from which the secondary eviction rate applies',
    default: 50,
  })
  @IsInt()
  @Min(0)
  largeClusterSizeThreshold!: number;

  @Flag({
    name: 'terminated-pod-gc-threshold',
    description:
      'finished pods that are kept; more are deleted, oldest first; 0 keeps all; higher: more memory in every server and client',
    default: 12_500,
  })
  @IsInt()
  @Min(0)
  terminatedPodThreshold!: number;
}

/** Whether the list (`*`, `foo`, `-foo`) enables a controller. An explicit name beats the star. */
export function isControllerEnabled(name: string, list: readonly string[]): boolean {
  if (list.includes(`-${name}`)) return false;
  return list.includes(name) || list.includes('*');
}
