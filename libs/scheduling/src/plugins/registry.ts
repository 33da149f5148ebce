/** The plugins that decide, in the order in which they are asked; the cheapest refusals come first. */
import type { FilterPlugin, ScorePlugin } from '../framework/plugin.js';
import {
  nodeAffinity,
  nodeName,
  nodePorts,
  nodeUnschedulable,
  taintToleration,
} from './node-filters.js';
import {
  balancedAllocation,
  leastAllocated,
  mostAllocated,
  nodeResourcesFit,
} from './node-resources.js';
import { imageLocality, preferredNodeAffinity, preferredTaints } from './node-scores.js';
import { podAffinityFilter, podAffinityScore } from './pod-affinity.js';
import { topologySpreadFilter, topologySpreadScore } from './topology-spread.js';

/** Filters that need nothing but the node: also used to tell whether a new node may help a pod. */
export const nodeFilterPlugins: readonly FilterPlugin[] = [
  nodeUnschedulable,
  nodeName,
  taintToleration,
  nodeAffinity,
  nodePorts,
  nodeResourcesFit,
];

export const filterPlugins: readonly FilterPlugin[] = [
  ...nodeFilterPlugins,
  topologySpreadFilter,
  podAffinityFilter,
];

export const algorithmProviders = ['DefaultProvider', 'ClusterAutoscalerProvider'] as const;
export type AlgorithmProvider = (typeof algorithmProviders)[number];

/** The scores of a provider: spread over the emptiest nodes, or fill nodes so that others can go. */
export function scorePlugins(provider: AlgorithmProvider): readonly ScorePlugin[] {
  return [
    balancedAllocation,
    imageLocality,
    podAffinityScore,
    provider === 'ClusterAutoscalerProvider' ? mostAllocated : leastAllocated,
    preferredNodeAffinity,
    topologySpreadScore,
    preferredTaints,
  ];
}
