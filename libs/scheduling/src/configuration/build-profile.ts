/** Creates the plugins of a profile and checks that each implements its extension points. */
import { ValueError } from '@orch/component';
import type { Plugin } from '../framework/plugin.js';
import type { ExtensionPoint, PluginWith, Profile } from '../framework/profile.js';
import { ConfigurationMap } from './configuration-map.js';
import { bindTimeoutMs } from './plugin-arguments.js';
import { implementsPoint, type PluginContext, pluginDefinitions } from './plugin-definitions.js';
import type { EnabledPlugin, PluginSets } from './plugin-sets.js';

export interface ProfileDefinition {
  readonly schedulerName: string;
  readonly sets: PluginSets;
  /** Arguments by plugin name. */
  readonly args: ReadonlyMap<string, ConfigurationMap>;
  /** The origin, for messages. */
  readonly source: string;
}

const scoreMaxTotal = Number.MAX_SAFE_INTEGER;

/** Throws ValueError. */
export function buildProfile(definition: ProfileDefinition, context: PluginContext): Profile {
  const { schedulerName, sets, source } = definition;
  const fault = (problem: string) =>
    new ValueError(`${source}: profile ${schedulerName}: ${problem}`);
  const created = new Map<string, Plugin>();
  for (const [name, args] of definition.args) {
    created.set(name, createPlugin(name, args, context, fault));
  }
  const argsOf = (name: string) => ConfigurationMap.ofValue({}, `the arguments of ${name}`, source);
  const at = <P extends ExtensionPoint & keyof Plugin>(point: P): PluginWith<P>[] =>
    names(sets[point], point, fault).map((name) => {
      const plugin = created.get(name) ?? createPlugin(name, argsOf(name), context, fault);
      created.set(name, plugin);
      checkPoint(plugin, point, fault);
      return plugin as PluginWith<P>;
    });
  const boundAt = (point: ExtensionPoint) => {
    const list = names(sets[point], point, fault);
    for (const name of list) checkPoint({ name }, point, fault);
    return list;
  };
  const [queueSort, ...otherSorts] = at('queueSort');
  if (!queueSort || otherSorts.length > 0) throw fault('exactly one queueSort plugin is required');
  if (sets.bind.length === 0) throw fault('at least one bind plugin is required');
  checkReserve(sets, fault);
  const weights = weightsOf(sets.score, fault);
  return {
    schedulerName,
    queueSort,
    preFilters: at('preFilter'),
    filters: at('filter'),
    postFilters: at('postFilter'),
    preScores: at('preScore'),
    scores: at('score').map((plugin, index) => ({ plugin, weight: weights[index]! })),
    reserves: at('reserve'),
    permits: at('permit'),
    preBinds: boundAt('preBind'),
    binds: boundAt('bind'),
    postBinds: boundAt('postBind'),
    volumeBindTimeoutMs: bindTimeoutMs(definition.args.get('VolumeBinding')),
  };
}

type Fault = (problem: string) => ValueError;

function createPlugin(
  name: string,
  args: ConfigurationMap,
  context: PluginContext,
  fault: Fault,
): Plugin {
  const definition = pluginDefinitions.get(name);
  if (!definition) throw unknownPlugin(name, fault);
  const expected = `${name}Args`;
  const kind = args.text('kind');
  if (kind !== undefined && kind !== expected) throw args.fault('kind', `is not ${expected}`);
  args.text('apiVersion');
  const plugin = definition.create(args, context);
  args.finish();
  return plugin;
}

function unknownPlugin(name: string, fault: Fault): ValueError {
  return fault(`unknown plugin ${name}; known are ${[...pluginDefinitions.keys()].join(', ')}`);
}

function checkPoint(plugin: Plugin, point: ExtensionPoint, fault: Fault): void {
  const definition = pluginDefinitions.get(plugin.name);
  if (!definition) throw unknownPlugin(plugin.name, fault);
  if (implementsPoint(plugin, definition, point)) return;
  throw fault(`plugin ${plugin.name} does not extend ${point}`);
}

function names(list: readonly EnabledPlugin[], point: ExtensionPoint, fault: Fault): string[] {
  const seen = new Set<string>();
  for (const { name } of list) {
    if (seen.has(name)) {
      throw fault(`plugin ${name} is enabled twice at ${point}; disable the default one first`);
    }
    seen.add(name);
  }
  return [...seen];
}

/** PreBind writes what Reserve has reserved. */
function checkReserve(sets: PluginSets, fault: Fault): void {
  for (const { name } of sets.preBind) {
    if (name !== 'VolumeBinding' || sets.reserve.some((other) => other.name === name)) continue;
    throw fault(`plugin ${name} is enabled at preBind but not at reserve`);
  }
}

/** A weight of 0 is the same as none: 1. */
function weightsOf(scores: readonly EnabledPlugin[], fault: Fault): number[] {
  let total = 0;
  return scores.map(({ name, weight = 1 }) => {
    if (!Number.isInteger(weight) || weight < 0) {
      throw fault(`the weight ${weight} of score plugin ${name} is not a positive whole number`);
    }
    const used = weight || 1;
    total += used * 100;
    if (total > scoreMaxTotal) throw fault('the weights of the score plugins are too large');
    return used;
  });
}
