/** Flags of the controllers: which run, how wide, and the times they keep. */
import { Flag, Flags } from '@orch/component';
import { IsInt, Max, Min } from 'class-validator';
import { EndpointsOptions } from './endpoints-options.js';
import { NodeIpamOptions } from './node-ipam-options.js';
import { NodeOptions } from './node-options.js';
import { ProviderOptions } from './provider-options.js';
import { SigningOptions } from './signing-options.js';
import { StorageOptions } from './storage-options.js';

const concurrency = (name: string, what: string, count: number) =>
  Flag({
    name: `concurrent-${name}-syncs`,
    description: `${what} reconciled concurrently. Higher: more load on this process and the API server. Lower: changes wait longer.`,
    default: count,
  });

export class ControllersOptions {
  @Flag({
    name: 'controllers',
    description:
      "controllers to run: '*' is all but bootstrapsigner and tokencleaner, 'foo' runs foo, '-foo' does not run it",
    default: '*',
  })
  controllers!: string[];

  @Flags(SigningOptions)
  signing!: SigningOptions;

  @Flags(StorageOptions)
  storage!: StorageOptions;

  @Flags(NodeOptions)
  nodes!: NodeOptions;

  @Flags(NodeIpamOptions)
  nodeIpam!: NodeIpamOptions;

  @Flags(ProviderOptions)
  provider!: ProviderOptions;

  @concurrency('deployment', 'deployments', 5)
  @IsInt()
  @Min(1)
  @Max(1_000)
  deploymentSyncs!: number;

  @Flag({
    name: 'deployment-controller-sync-period',
    description:
      'time after which incomplete rollouts are reconciled again, even if nothing has changed. Higher: a missed change is noticed later. Lower: more load on this process.',
    default: '30s',
    type: 'duration',
  })
  @Min(1_000)
  deploymentSyncPeriodMs!: number;

  @concurrency('replicaset', 'replica sets', 5)
  @IsInt()
  @Min(1)
  @Max(1_000)
  replicaSetSyncs!: number;

  @concurrency('rc', 'replication controllers', 5)
  @IsInt()
  @Min(1)
  @Max(1_000)
  replicationControllerSyncs!: number;

  @concurrency('statefulset', 'stateful sets', 5)
  @IsInt()
  @Min(1)
  @Max(1_000)
  statefulSetSyncs!: number;

  @concurrency('daemonset', 'daemon sets', 2)
  @IsInt()
  @Min(1)
  @Max(1_000)
  daemonSetSyncs!: number;

  @concurrency('endpoint', 'services', 5)
  @IsInt()
  @Min(1)
  @Max(1_000)
  endpointSyncs!: number;

  @Flags(EndpointsOptions)
  endpoints!: EndpointsOptions;

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

  @concurrency('ttl-after-finished', 'finished jobs with a lifetime', 5)
  @IsInt()
  @Min(1)
  @Max(1_000)
  ttlAfterFinishedSyncs!: number;

  @concurrency('serviceaccount-token', 'service accounts with their token secrets', 5)
  @IsInt()
  @Min(1)
  @Max(1_000)
  accountTokenSyncs!: number;

  @Flag({
    name: 'service-account-private-key-file',
    description:
      'PEM private key (RSA or EC) that signs the tokens in secrets of service accounts; API servers must trust it; without it no such token is made',
    default: '',
  })
  accountPrivateKeyFile!: string;

  @concurrency('gc', 'objects the garbage collector has', 20)
  @IsInt()
  @Min(1)
  @Max(1_000)
  garbageCollectorSyncs!: number;

  @Flag({
    name: 'horizontal-pod-autoscaler-sync-period',
    description:
      'time between two computations of the replicas of an autoscaler. Higher: load changes are followed later. Lower: more requests for metrics.',
    default: '15s',
    type: 'duration',
  })
  @Min(100)
  autoscalerSyncPeriodMs!: number;

  @Flag({
    name: 'horizontal-pod-autoscaler-tolerance',
    description:
      'smallest change of the ratio of a metric to its target that scales. Higher: replicas follow the load less closely. Lower: they change for noise.',
    default: 0.1,
  })
  @Min(0)
  autoscalerTolerance!: number;

  @Flag({
    name: 'horizontal-pod-autoscaler-downscale-stabilization',
    description:
      'an autoscaler scales down to the highest of its recommendations within this time. Higher: idle pods stay longer. Lower: replicas drop in short pauses of the load.',
    default: '5m0s',
    type: 'duration',
  })
  @Min(0)
  autoscalerDownscaleStabilizationMs!: number;

  @Flag({
    name: 'horizontal-pod-autoscaler-cpu-initialization-period',
    description:
      'time after the start of a pod in which its CPU samples count only while it is ready. Higher: the load of new pods counts later. Lower: the cost of their start scales up.',
    default: '5m0s',
    type: 'duration',
  })
  @Min(0)
  autoscalerCpuInitializationMs!: number;

  @Flag({
    name: 'horizontal-pod-autoscaler-initial-readiness-delay',
    description:
      'a pod that becomes not ready within this time of its start counts as never ready, so that its CPU samples are ignored. Higher: more samples are ignored. Lower: the cost of slow starts scales up.',
    default: '30s',
    type: 'duration',
  })
  @Min(0)
  autoscalerInitialReadinessDelayMs!: number;

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
    name: 'namespace-sync-period',
    description:
      'longest time between two checks of a namespace that is being deleted. Higher: its deletion may complete later. Lower: more requests.',
    default: '5m0s',
    type: 'duration',
  })
  @Min(1_000)
  namespaceSyncPeriodMs!: number;

  @Flag({
    name: 'resource-quota-sync-period',
    description:
      'how often every quota is recounted without a change. Higher: stale usage is corrected later. Lower: more requests.',
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
    name: 'terminated-pod-gc-threshold',
    description:
      'finished pods to retain; the oldest above it are deleted; 0 retains all. Higher: more memory in every server and client. Lower: finished pods disappear earlier.',
    default: 12_500,
  })
  @IsInt()
  @Min(0)
  terminatedPodThreshold!: number;
}

/** Controllers that `*` does not enable. */
const disabledByDefault: ReadonlySet<string> = new Set(['bootstrapsigner', 'tokencleaner']);

/**
 * Whether the list (`*`, `foo`, `-foo`) enables a controller. The first entry with its name
 * decides; a name beats the star.
 */
export function isControllerEnabled(name: string, list: readonly string[]): boolean {
  const explicit = list.find((entry) => entry === name || entry === `-${name}`);
  if (explicit !== undefined) return explicit === name;
  return list.includes('*') && !disabledByDefault.has(name);
}
