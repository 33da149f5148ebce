/**
 * The policy file, the older form of a configuration: predicates and priorities name plugins by
 * older names. Without a list of predicates or priorities, the default ones are used.
 */
import { ValueError } from '@orch/component';
import type { Profile } from '../framework/profile.js';
import { buildProfile } from './build-profile.js';
import { ConfigurationMap } from './configuration-map.js';
import {
  type ExtenderOptions,
  policyExtenderSpelling,
  readExtenders,
} from './extender-configuration.js';
import type { PluginContext } from './plugin-definitions.js';
import { defaultPluginSets, type EnabledPlugin, type PluginSets } from './plugin-sets.js';
import { PolicyArguments, predicatePlugins, priorityPlugins } from './policy-plugins.js';

export interface PolicyConfiguration {
  readonly profiles: readonly Profile[];
  readonly extenders: readonly ExtenderOptions[];
}

/** Plugins of predicates that cannot be left out. */
const mandatory = ['NodeUnschedulable', 'TaintToleration'];
const weightMax = 1_000_000;

/** Throws ValueError. */
export function readPolicy(
  file: string,
  schedulerName: string,
  context: PluginContext,
): PolicyConfiguration {
  const root = ConfigurationMap.ofFile(file);
  if (root.text('apiVersion') !== 'v1' || root.text('kind') !== 'Policy') {
    throw new ValueError(`${file}: not a Policy of v1`);
  }
  const extenders = readExtenders(root, policyExtenderSpelling);
  const args = new PolicyArguments(file);
  const defaults = defaultPluginSets('DefaultProvider', context.hasDefaultSpread);
  const hardWeight = root.integer('hardPodAffinitySymmetricWeight', 0, 100);
  if (root.boolean('alwaysCheckAllPredicates')) {
    throw root.fault('alwaysCheckAllPredicates', 'is not supported: the first rejection decides');
  }
  const filters = root.has('predicates') ? readPredicates(root, args) : undefined;
  const scores = root.has('priorities') ? readPriorities(root, args) : undefined;
  root.finish();
  const definition = {
    schedulerName,
    sets: policySets(defaults, filters, scores),
    args: args.all(),
    source: file,
  };
  const pluginContext = {
    ...context,
    ...(hardWeight !== undefined && { hardPodAffinityWeight: hardWeight }),
    ignoredResources: extenders.flatMap(({ ignoredResources }) => ignoredResources),
  };
  return { profiles: [buildProfile(definition, pluginContext)], extenders };
}

function readPredicates(root: ConfigurationMap, args: PolicyArguments): Set<string> {
  const plugins = new Set(mandatory);
  for (const entry of root.maps('predicates')) {
    const name = entry.text('name') ?? '';
    const argument = entry.map('argument');
    entry.finish();
    const fromArgument = argument && args.ofPredicate(argument);
    const found = fromArgument ? [fromArgument] : predicatePlugins[name];
    if (!found) throw entry.fault('name', `unknown predicate ${name || '(empty)'}`);
    for (const plugin of found) plugins.add(plugin);
  }
  return plugins;
}

function readPriorities(root: ConfigurationMap, args: PolicyArguments): EnabledPlugin[] {
  const weights = new Map<string, number>();
  for (const entry of root.maps('priorities')) {
    const name = entry.text('name') ?? '';
    const weight = entry.integer('weight', 1, weightMax);
    if (weight === undefined) throw entry.fault('weight', 'is required');
    const argument = entry.map('argument');
    entry.finish();
    const plugin = argument ? args.ofPriority(argument) : priorityPlugins[name];
    if (plugin === undefined) {
      throw entry.fault('name', `unknown priority ${name || '(empty)'}`);
    }
    // An empty name is a priority that ranks all nodes alike.
    if (plugin !== '') weights.set(plugin, (weights.get(plugin) ?? 0) + weight);
  }
  return [...weights].map(([name, weight]) => ({ name, weight }));
}

function policySets(
  defaults: PluginSets,
  filters: ReadonlySet<string> | undefined,
  scores: readonly EnabledPlugin[] | undefined,
): PluginSets {
  if (!filters) return { ...defaults, ...(scores && { score: scores, preScore: [] }) };
  // Known plugins keep their order; plugins that only a policy enables are last.
  const order = defaults.filter.map(({ name }) => name);
  const known = order.filter((name) => filters.has(name));
  const added = [...filters].filter((name) => !order.includes(name));
  const filter = [...known, ...added].map((name) => ({ name }));
  const usesVolumes = filters.has('VolumeBinding');
  const ifUsed = (plugins: readonly EnabledPlugin[]) =>
    plugins.filter(({ name }) => name !== 'VolumeBinding' || usesVolumes);
  return {
    ...defaults,
    filter,
    preFilter: defaults.preFilter.filter(({ name }) => filters.has(name)),
    reserve: ifUsed(defaults.reserve),
    preBind: ifUsed(defaults.preBind),
    ...(scores && { score: scores, preScore: [] }),
  };
}
