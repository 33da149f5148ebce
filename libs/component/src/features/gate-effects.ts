/**
 * The effect of each gate of the release: the components that read it, or the reason why none does.
 * Invariant: every known gate is listed exactly once.
 */

export type GatedComponent =
  | 'apiserver'
  | 'controller-manager'
  | 'scheduler'
  | 'node-agent'
  | 'proxy';

/**
 * Gates with an effect, by component. `docs/feature-gates.md` describes what each gate switches
 * off.
 */
export const operationalGates: Readonly<Record<GatedComponent, readonly string[]>> = {
  apiserver: [
    'APIListChunking',
    'APIPriorityAndFairness',
    'APIResponseCompression',
    'APIServerIdentity',
    'AnyVolumeDataSource',
    'AppArmor',
    'CSIInlineVolume',
    'CSIServiceAccountToken',
    'CSIStorageCapacity',
    'CSIVolumeFSGroupPolicy',
    'ConfigurableFSGroupPolicy',
    'DaemonSetUpdateSurge',
    'DryRun',
    'DynamicKubeletConfig',
    'EndpointSliceTerminatingCondition',
    'EphemeralContainers',
    'ExpandPersistentVolumes',
    'GenericEphemeralVolume',
    'HPAContainerMetrics',
    'HPAScaleToZero',
    'IPv6DualStack',
    'IndexedJob',
    'IngressClassNamespacedParams',
    'LocalStorageCapacityIsolation',
    'MixedProtocolLBService',
    'NamespaceDefaultLabelName',
    'NetworkPolicyEndPort',
    'NonPreemptingPriority',
    'PodAffinityNamespaceSelector',
    'PodOverhead',
    'ProbeTerminationGracePeriod',
    'ProcMountType',
    'RemainingItemCount',
    'ServerSideApply',
    'ServiceInternalTrafficPolicy',
    'ServiceLBNodePortControl',
    'ServiceLoadBalancerClass',
    'ServiceTopology',
    'SetHostnameAsFQDN',
    'StorageVersionAPI',
    'StorageVersionHash',
    'SuspendJob',
    'TTLAfterFinished',
    'TopologyAwareHints',
    'VolumeSubpath',
    'WarningHeaders',
  ],
  'controller-manager': [
    'APIServerIdentity',
    'DaemonSetUpdateSurge',
    'ExpandPersistentVolumes',
    'GenericEphemeralVolume',
    'IPv6DualStack',
    'IndexedJob',
    'LogarithmicScaleDown',
    'PodDeletionCost',
    'StorageVersionAPI',
    'SuspendJob',
    'TTLAfterFinished',
  ],
  scheduler: ['DefaultPodTopologySpread', 'PreferNominatedNode'],
  'node-agent': ['RotateKubeletServerCertificate'],
  proxy: [],
};

/** Gates without effect, by the reason. */
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
  'its feature is always on': ['EfficientWatchResumption', 'KubeletPodResources', 'RemoveSelfLink'],
  'its API kinds and fields always behave as by default': [
    'CronJobControllerV2',
    'EndpointSlice',
    'EndpointSliceProxying',
    'ExpandCSIVolumes',
    'ExpandInUsePersistentVolumes',
    'PodDisruptionBudget',
    'VolumeSnapshotDataSource',
  ],
  'no volumes but directories are implemented': [
    'BalanceAttachedNodeVolumes',
    'CSIMigration',
    'CSIMigrationAWS',
    'CSIMigrationAzureDisk',
    'CSIMigrationAzureFile',
    'CSIMigrationGCE',
    'CSIMigrationOpenStack',
    'CSIMigrationvSphere',
    'CSIMigrationvSphereComplete',
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
  'providers of clouds are not implemented': [
    'ExternalPolicyForExternalIP',
    'LegacyNodeRoleBehavior',
    'NodeDisruptionExclusion',
    'ServiceNodeExclusion',
  ],
  'Windows nodes are not supported': ['WinDSR', 'WinOverlay', 'WindowsEndpointSliceProxying'],
  'the node agent does not implement its feature': [
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
    'QOSReserved',
    'SupportNodePidsLimit',
    'SupportPodPidsLimit',
    'TopologyManager',
  ],
  'the API server does not implement its feature': ['AdvancedAuditing'],
  'service account tokens of pods are always bound': ['BoundServiceAccountTokenVolume'],
  'redirects of node agents are never followed': [
    'StreamingProxyRedirects',
    'ValidateProxyRedirects',
  ],
};

const reasons = new Map(
  Object.entries(idleGates).flatMap(([reason, names]) =>
    names.map((name) => [name, reason] as const),
  ),
);

/** Whether the gate has no effect in any component. */
export function isIdle(name: string): boolean {
  return reasons.has(name);
}

/** Returns the reason why the gate has no effect in a component that does not read it. */
export function idleReason(name: string): string {
  return reasons.get(name) ?? 'it applies to other components';
}
