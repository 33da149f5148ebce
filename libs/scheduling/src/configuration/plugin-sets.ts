/** Which plugins are enabled at which extension point: the defaults, and changes to them. */
import type { ExtensionPoint } from '../framework/profile.js';

export interface EnabledPlugin {
  readonly name: string;
  /** The weight of its score. */
  readonly weight?: number;
}

export type PluginSets = Readonly<Record<ExtensionPoint, readonly EnabledPlugin[]>>;

export const algorithmProviders = ['DefaultProvider', 'ClusterAutoscalerProvider'] as const;
export type AlgorithmProvider = (typeof algorithmProviders)[number];

const filterNames = [
  ...['NodeUnschedulable', 'NodeName', 'TaintToleration', 'NodeAffinity', 'NodePorts'],
  ...['NodeResourcesFit', 'VolumeRestrictions', 'EBSLimits', 'GCEPDLimits', 'NodeVolumeLimits'],
  ...['AzureDiskLimits', 'VolumeBinding', 'VolumeZone', 'PodTopologySpread', 'InterPodAffinity'],
];

/** Above the sum of all other scores. */
export const avoidPodsWeight = 10_000;

const named = (...names: string[]): EnabledPlugin[] => names.map((name) => ({ name }));

/**
 * @param hasDefaultSpread whether `PodTopologySpread` spreads pods without constraints, instead of
 *     `SelectorSpread`
 */
export function defaultPluginSets(
  provider: AlgorithmProvider,
  hasDefaultSpread: boolean,
): PluginSets {
  const fills = provider === 'ClusterAutoscalerProvider';
  return {
    queueSort: named('PrioritySort'),
    preFilter: named(
      ...['NodeResourcesFit', 'NodePorts', 'PodTopologySpread', 'InterPodAffinity'],
      'VolumeBinding',
    ),
    filter: named(...filterNames),
    postFilter: named('DefaultPreemption'),
    preScore: named(
      ...['InterPodAffinity', 'PodTopologySpread', 'TaintToleration', 'NodeAffinity'],
      ...(hasDefaultSpread ? [] : ['SelectorSpread']),
    ),
    score: [
      { name: 'NodeResourcesBalancedAllocation', weight: 1 },
      { name: 'ImageLocality', weight: 1 },
      { name: 'InterPodAffinity', weight: 1 },
      { name: fills ? 'NodeResourcesMostAllocated' : 'NodeResourcesLeastAllocated', weight: 1 },
      { name: 'NodeAffinity', weight: 1 },
      { name: 'NodePreferAvoidPods', weight: avoidPodsWeight },
      { name: 'PodTopologySpread', weight: 2 },
      { name: 'TaintToleration', weight: 1 },
      ...(hasDefaultSpread ? [] : [{ name: 'SelectorSpread', weight: 1 }]),
    ],
    reserve: named('VolumeBinding'),
    permit: [],
    preBind: named('VolumeBinding'),
    bind: named('DefaultBinder'),
    postBind: [],
  };
}
