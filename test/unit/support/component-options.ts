/** The options of the components in the interface, with their defaults or permitted values. */

export interface SpecifiedOptions {
  readonly defaults: Readonly<Record<string, string>>;
  /** Other permitted values. */
  readonly values: Readonly<Record<string, readonly string[]>>;
  /** Options that the component refuses, with the reason. */
  readonly open: Readonly<Record<string, string>>;
}

const concurrency = Object.fromEntries(
  [
    ...['deployment', 'endpoint', 'rc', 'replicaset', 'resource-quota', 'service-endpoint'],
    ...['serviceaccount-token', 'statefulset', 'ttl-after-finished'],
  ].map((name) => [`concurrent-${name}-syncs`, '5']),
);

const election = {
  'leader-elect': 'true',
  'leader-elect-lease-duration': '15s',
  'leader-elect-renew-deadline': '10s',
  'leader-elect-retry-period': '2s',
  'leader-elect-resource-lock': 'leases',
  'leader-elect-resource-namespace': 'orch-system',
};
const locks = ['endpoints', 'configmaps', 'endpointsleases', 'configmapsleases'];

export const controllerManagerOptions: SpecifiedOptions = {
  defaults: {
    ...concurrency,
    ...election,
    'secure-port': '10257',
    'bind-address': '0.0.0.0',
    controllers: '*',
    'orch-api-qps': '20',
    'orch-api-burst': '30',
    'orch-api-content-type': 'application/vnd.orch.protobuf',
    'authentication-token-webhook-cache-ttl': '10s',
    'authorization-webhook-cache-authorized-ttl': '10s',
    'authorization-webhook-cache-unauthorized-ttl': '10s',
    'authorization-always-allow-paths': '/healthz,/readyz,/livez',
    'concurrent-gc-syncs': '20',
    'concurrent-namespace-syncs': '10',
    'concurrent-service-syncs': '1',
    'cluster-signing-duration': '8760h0m0s',
    'deployment-controller-sync-period': '30s',
    'namespace-sync-period': '5m0s',
    'resource-quota-sync-period': '5m0s',
    'pvclaimbinder-sync-period': '15s',
    'min-resync-period': '12h0m0s',
    'attach-detach-reconcile-sync-period': '1m0s',
    'node-monitor-grace-period': '40s',
    'node-monitor-period': '5s',
    'node-startup-grace-period': '1m0s',
    'pod-eviction-timeout': '5m0s',
    'node-eviction-rate': '0.1',
    'secondary-node-eviction-rate': '0.01',
    'large-cluster-size-threshold': '50',
    'terminated-pod-gc-threshold': '12500',
    'max-endpoints-per-slice': '100',
    'mirroring-max-endpoints-per-subset': '1000',
    'horizontal-pod-autoscaler-sync-period': '15s',
    'horizontal-pod-autoscaler-tolerance': '0.1',
    'horizontal-pod-autoscaler-downscale-stabilization': '5m0s',
    'horizontal-pod-autoscaler-cpu-initialization-period': '5m0s',
    'horizontal-pod-autoscaler-initial-readiness-delay': '30s',
    'cidr-allocator-type': 'RangeAllocator',
    'cluster-name': 'orch',
    'configure-cloud-routes': 'true',
    'route-reconciliation-period': '10s',
    'enable-garbage-collector': 'true',
    'enable-dynamic-provisioning': 'true',
    'enable-taint-manager': 'true',
    profiling: 'true',
    'logging-format': 'text',
    'requestheader-username-headers': 'x-remote-user',
    'requestheader-group-headers': 'x-remote-group',
    'requestheader-extra-headers-prefix': 'x-remote-extra-',
    'authentication-skip-lookup': 'false',
    'authentication-tolerate-lookup-failure': 'false',
  },
  values: {
    'leader-elect-resource-lock': locks,
    'logging-format': ['json'],
    'orch-api-content-type': ['application/json'],
  },
  open: {},
};

export const schedulerOptions: SpecifiedOptions = {
  defaults: {
    ...election,
    'secure-port': '10259',
    'bind-address': '0.0.0.0',
    address: '0.0.0.0',
    'scheduler-name': 'default-scheduler',
    'orch-api-qps': '50',
    'orch-api-burst': '100',
    'authentication-tolerate-lookup-failure': 'true',
  },
  values: {
    'leader-elect-resource-lock': locks,
    // Not the default: the port serves without TLS.
    port: ['10251'],
    'tls-min-version': ['VersionTLS10', 'VersionTLS11', 'VersionTLS12', 'VersionTLS13'],
    'algorithm-provider': ['ClusterAutoscalerProvider', 'DefaultProvider'],
  },
  open: {},
};
