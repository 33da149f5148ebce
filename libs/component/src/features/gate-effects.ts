/**
 * What each gate of the release does here: the components in which it decides something, or why it decides
 * nothing anywhere. Invariant: every known gate stands here exactly once.
 */

export type GatedComponent =
  | 'apiserver'
  | 'controller-manager'
  | 'scheduler'
  | 'node-agent'
  | 'proxy';

/** Gates that decide something, by component. What is off is said of the gate in `docs/feature-gates.md`. */
export const operationalGates: Readonly<Record<GatedComponent, readonly string[]>> = {
  apiserver: [
    'APIListChunking',
    'APIPriorityAndFairness',
    'APIResponseCompression',
    'AppArmor',
    'CSIInlineVolume',
    'ConfigurableFSGroupPolicy',
    'DryRun',
    'DynamicKubeletConfig',
    'EphemeralContainers',
    'GenericEphemeralVolume',
    'IPv6DualStack',
    'LocalStorageCapacityIsolation',
    'MixedProtocolLBService',
    'NamespaceDefaultLabelName',
    'NonPreemptingPriority',
    'PodAffinityNamespaceSelector',
    'PodOverhead',
    'RemainingItemCount',
    'ServerSideApply',
    'ServiceLBNodePortControl',
    'ServiceLoadBalancerClass',
    'SetHostnameAsFQDN',
    'StorageVersionHash',
    'VolumeSubpath',
    'WarningHeaders',
  ],
  'controller-manager': ['LogarithmicScaleDown', 'PodDeletionCost'],
  scheduler: [],
  'node-agent': [],
  proxy: [],
};

/** Why gates decide nothing, and which these are. */
export const idleGates: Readonly<Record<string, readonly string[]>> = {
  'its feature is final and always on': [
    'AllowInsecureBackendProxy',
    'CRIContainerLogRotation',
    'EndpointSliceNodeName',
    'ExecProbeTimeout',
    'ImmutableEphemeralVolumes',
    'NodeLease',
    'RootCAConfigMap',
    'RunAsGroup',
    'RuntimeClass',
    'SCTPSupport',
    'SelectorIndex',
    'ServiceAccountIssuerDiscovery',
    'ServiceAppProtocol',
    'StartupProbe',
    'StorageObjectInUseProtection',
    'Sysctls',
    'WatchBookmark',
  ],
  'what it governs is always so here': [
    'DefaultPodTopologySpread',
    'EfficientWatchResumption',
    'KubeletPodResources',
    'RemoveSelfLink',
  ],
  'its kinds are kept as they are by default, whatever it says': [
    'AnyVolumeDataSource',
    'CSIStorageCapacity',
    'CSIVolumeFSGroupPolicy',
    'CronJobControllerV2',
    'DaemonSetUpdateSurge',
    'EndpointSlice',
    'EndpointSliceProxying',
    'EndpointSliceTerminatingCondition',
    'ExpandCSIVolumes',
    'ExpandInUsePersistentVolumes',
    'ExpandPersistentVolumes',
    'HPAContainerMetrics',
    'HPAScaleToZero',
    'IndexedJob',
    'IngressClassNamespacedParams',
    'NetworkPolicyEndPort',
    'PodDisruptionBudget',
    'StorageVersionAPI',
    'SuspendJob',
    'TTLAfterFinished',
    'TopologyAwareHints',
    'VolumeSnapshotDataSource',
  ],
  'there are no volume plugins that it governs': [
    'BalanceAttachedNodeVolumes',
    'CSIMigration',
    'CSIMigrationAWS',
    'CSIMigrationAzureDisk',
    'CSIMigrationAzureFile',
    'CSIMigrationGCE',
    'CSIMigrationOpenStack',
    'CSIMigrationvSphere',
    'CSIMigrationvSphereComplete',
    'CSIServiceAccountToken',
    'CSIVolumeHealth',
    'InTreePluginAWSUnregister',
    'InTreePluginAzureDiskUnregister',
    'InTreePluginAzureFileUnregister',
    'InTreePluginGCEUnregister',
    'InTreePluginOpenStackUnregister',
    'InTreePluginvSphereUnregister',
    'SizeMemoryBackedVolumes',
    'VolumeCapacityPriority',
  ],
  'there is no cloud provider': [
    'ExternalPolicyForExternalIP',
    'LegacyNodeRoleBehavior',
    'NodeDisruptionExclusion',
    'ServiceNodeExclusion',
  ],
  'there are no nodes of that system': ['WinDSR', 'WinOverlay', 'WindowsEndpointSliceProxying'],
  'node agents do not have its feature': [
    'CPUManager',
    'CustomCPUCFSQuotaPeriod',
    'DevicePlugins',
    'DisableAcceleratorUsageMetrics',
    'DownwardAPIHugePages',
    'ExperimentalHostUserNamespaceDefaulting',
    'GracefulNodeShutdown',
    'HugePageStorageMediumSize',
    'KubeletCredentialProviders',
    'KubeletPodResourcesGetAllocatable',
    'LocalStorageCapacityIsolationFSQuotaMonitoring',
    'MemoryManager',
    'ProbeTerminationGracePeriod',
    'ProcMountType',
    'QOSReserved',
    'RotateKubeletServerCertificate',
    'SupportNodePidsLimit',
    'SupportPodPidsLimit',
    'TopologyManager',
  ],
  'the service proxy does not have its feature': [
    'ServiceInternalTrafficPolicy',
    'ServiceTopology',
  ],
  'the scheduler does not have its feature': ['PreferNominatedNode'],
  'the API server does not have its feature': ['APIServerIdentity', 'AdvancedAuditing'],
  'tokens are given out for one pod only': ['BoundServiceAccountTokenVolume'],
  'answers of agents are never redirected': ['StreamingProxyRedirects', 'ValidateProxyRedirects'],
};

const reasons = new Map(
  Object.entries(idleGates).flatMap(([reason, names]) =>
    names.map((name) => [name, reason] as const),
  ),
);

/** The gate does nothing in any component. */
export function isIdle(name: string): boolean {
  return reasons.has(name);
}

/** Why the gate does nothing in this component. */
export function whyIdle(name: string): string {
  return reasons.get(name) ?? 'it is a matter of other components';
}
