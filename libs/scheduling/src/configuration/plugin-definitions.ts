/** All plugins by name, with the reader of their arguments. */
import type { Plugin } from '../framework/plugin.js';
import { type ExtensionPoint, extensionPoints } from '../framework/profile.js';
import { imageLocality } from '../plugins/image-locality.js';
import { nodeAffinity } from '../plugins/node-affinity.js';
import { nodeName, nodePorts, nodeUnschedulable } from '../plugins/node-filters.js';
import { nodeLabel } from '../plugins/node-label.js';
import { nodePreferAvoidPods } from '../plugins/node-prefer-avoid-pods.js';
import { hardPodAffinityWeightDefault, interPodAffinity } from '../plugins/pod-affinity.js';
import { defaultPreemption } from '../plugins/preemption/default-preemption.js';
import { prioritySort } from '../plugins/priority-sort.js';
import {
  balancedAllocation,
  leastAllocated,
  mostAllocated,
  requestedToCapacityRatio,
} from '../plugins/resource-scores.js';
import { nodeResourcesFit } from '../plugins/resources-fit.js';
import { selectorSpread } from '../plugins/selector-spread.js';
import { serviceAffinity } from '../plugins/service-affinity.js';
import { taintToleration } from '../plugins/taint-toleration.js';
import { podTopologySpread } from '../plugins/topology-spread.js';
import { nodeVolumeLimits } from '../plugins/volumes/csi-limits.js';
import { diskLimitPlugins } from '../plugins/volumes/disk-limits.js';
import { volumeBinding } from '../plugins/volumes/volume-binding.js';
import { volumeRestrictions } from '../plugins/volumes/volume-restrictions.js';
import { volumeZone } from '../plugins/volumes/volume-zone.js';
import type { ConfigurationMap } from './configuration-map.js';
import {
  addedAffinity,
  bindTimeoutMs,
  preemptionOptions,
  shapeOf,
  spreadConstraints,
  weightedResources,
} from './plugin-arguments.js';

export interface PluginContext {
  /** The default of `InterPodAffinity.hardPodAffinityWeight`. */
  readonly hardPodAffinityWeight?: number;
  /** Whether pods without constraints are spread by `PodTopologySpread`. */
  readonly hasDefaultSpread: boolean;
  /** Named resources that extenders manage instead of `NodeResourcesFit`. */
  readonly ignoredResources: readonly string[];
}

export interface PluginDefinition {
  readonly name: string;
  /** Reads the arguments; `finish` of the map rejects fields that were not read. */
  readonly create: (args: ConfigurationMap, context: PluginContext) => Plugin;
  /** Extension points that the shell implements. */
  readonly bindingPoints?: readonly ExtensionPoint[];
}

const hardWeightMax = 100;

/** A plugin without arguments. */
function plain(plugin: Plugin, ...bindingPoints: ExtensionPoint[]): PluginDefinition {
  return { name: plugin.name, create: () => plugin, bindingPoints };
}

const definitions: readonly PluginDefinition[] = [
  plain(prioritySort),
  plain(nodeUnschedulable),
  plain(nodeName),
  plain(taintToleration),
  plain(nodePorts),
  plain(imageLocality),
  plain(nodePreferAvoidPods),
  plain(balancedAllocation),
  plain(selectorSpread),
  plain(volumeRestrictions),
  plain(volumeZone),
  plain(nodeVolumeLimits),
  ...diskLimitPlugins.map((plugin) => plain(plugin)),
  plain({ name: 'DefaultBinder' }, 'bind'),
  {
    name: 'VolumeBinding',
    create(args) {
      bindTimeoutMs(args);
      return volumeBinding;
    },
    bindingPoints: ['preBind'],
  },
  { name: 'NodeAffinity', create: (args) => nodeAffinity(addedAffinity(args)) },
  {
    name: 'NodeResourcesFit',
    create: (args, { ignoredResources }) =>
      nodeResourcesFit({
        ignoredResources: [...args.texts('ignoredResources'), ...ignoredResources],
        ignoredResourceGroups: args.texts('ignoredResourceGroups'),
      }),
  },
  {
    name: 'NodeResourcesLeastAllocated',
    create: (args) => leastAllocated(weightedResources(args)),
  },
  { name: 'NodeResourcesMostAllocated', create: (args) => mostAllocated(weightedResources(args)) },
  {
    name: 'RequestedToCapacityRatio',
    create: (args) => requestedToCapacityRatio(shapeOf(args), weightedResources(args)),
  },
  {
    name: 'InterPodAffinity',
    create: (args, { hardPodAffinityWeight = hardPodAffinityWeightDefault }) =>
      interPodAffinity(
        args.integer('hardPodAffinityWeight', 0, hardWeightMax) ?? hardPodAffinityWeight,
      ),
  },
  {
    name: 'PodTopologySpread',
    create: (args, { hasDefaultSpread }) =>
      podTopologySpread(spreadConstraints(args, hasDefaultSpread)),
  },
  {
    name: 'NodeLabel',
    create: (args) =>
      nodeLabel({
        presentLabels: args.texts('presentLabels'),
        absentLabels: args.texts('absentLabels'),
        presentLabelsPreference: args.texts('presentLabelsPreference'),
        absentLabelsPreference: args.texts('absentLabelsPreference'),
      }),
  },
  {
    name: 'ServiceAffinity',
    create: (args) =>
      serviceAffinity({
        affinityLabels: args.texts('affinityLabels'),
        antiAffinityLabelsPreference: args.texts('antiAffinityLabelsPreference'),
      }),
  },
  { name: 'DefaultPreemption', create: (args) => defaultPreemption(preemptionOptions(args)) },
];

export const pluginDefinitions: ReadonlyMap<string, PluginDefinition> = new Map(
  definitions.map((definition) => [definition.name, definition]),
);

/** Whether the plugin implements the extension point. */
export function implementsPoint(
  plugin: Plugin,
  definition: PluginDefinition,
  point: ExtensionPoint,
): boolean {
  if (definition.bindingPoints?.includes(point)) return true;
  return point in plugin && extensionPoints.includes(point);
}
