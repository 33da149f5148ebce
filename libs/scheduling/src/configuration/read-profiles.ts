/** The `profiles` of a configuration: changes to the default plugins, and arguments. */
import { type ExtensionPoint, extensionPoints } from '../framework/profile.js';
import type { ProfileDefinition } from './build-profile.js';
import type { ConfigurationMap } from './configuration-map.js';
import { pluginDefinitions } from './plugin-definitions.js';
import type { EnabledPlugin, PluginSets } from './plugin-sets.js';

const every = '*';

/** Without profiles: one with the default plugins. */
export function readProfiles(
  root: ConfigurationMap,
  defaults: PluginSets,
  defaultName: string,
  source: string,
): ProfileDefinition[] {
  const entries = root.maps('profiles');
  if (entries.length === 0) {
    return [{ schedulerName: defaultName, sets: defaults, args: new Map(), source }];
  }
  const profiles = entries.map((entry) => readProfile(entry, defaults, source));
  if (profiles.length === 1) {
    const [profile] = profiles;
    return [{ ...profile!, schedulerName: profile!.schedulerName || defaultName }];
  }
  const seen = new Set<string>();
  const sorts = new Set<string>();
  profiles.forEach(({ schedulerName, sets }, index) => {
    if (schedulerName === '') {
      throw entries[index]!.fault('schedulerName', 'is required if there are several profiles');
    }
    if (seen.has(schedulerName)) {
      throw entries[index]!.fault('schedulerName', `duplicate name ${schedulerName}`);
    }
    seen.add(schedulerName);
    sorts.add(sets.queueSort.map(({ name }) => name).join());
  });
  // The profiles share one queue.
  if (sorts.size > 1) throw root.fault('profiles', 'must have the same queueSort plugin');
  return profiles;
}

function readProfile(
  entry: ConfigurationMap,
  defaults: PluginSets,
  source: string,
): ProfileDefinition {
  const schedulerName = entry.text('schedulerName') ?? '';
  const plugins = entry.map('plugins');
  const sets = Object.fromEntries(
    extensionPoints.map((point) => [point, changedSet(plugins, point, defaults[point])]),
  ) as unknown as PluginSets;
  plugins?.finish();
  const args = new Map<string, ConfigurationMap>();
  for (const config of entry.maps('pluginConfig')) {
    const name = config.text('name') ?? '';
    checkKnown(config, name);
    if (args.has(name)) throw config.fault('name', `duplicate arguments of ${name}`);
    const own = config.map('args');
    config.finish();
    if (own) args.set(name, own);
  }
  entry.finish();
  return { schedulerName, sets, args, source };
}

function changedSet(
  plugins: ConfigurationMap | undefined,
  point: ExtensionPoint,
  defaults: readonly EnabledPlugin[],
): EnabledPlugin[] {
  const set = plugins?.map(point);
  const enabled = set?.maps('enabled').map((entry) => readPlugin(entry)) ?? [];
  const disabled = set?.maps('disabled').map((entry) => readPlugin(entry, every).name) ?? [];
  set?.finish();
  const remaining = defaults.filter(
    ({ name }) => !disabled.includes(every) && !disabled.includes(name),
  );
  return [...remaining, ...enabled];
}

function readPlugin(entry: ConfigurationMap, wildcard?: string): EnabledPlugin {
  const name = entry.text('name') ?? '';
  if (name !== wildcard) checkKnown(entry, name);
  const weight = entry.integer('weight', 0);
  entry.finish();
  return { name, ...(weight !== undefined && { weight }) };
}

function checkKnown(entry: ConfigurationMap, name: string): void {
  if (pluginDefinitions.has(name)) return;
  const known = [...pluginDefinitions.keys()].join(', ');
  throw entry.fault('name', `unknown plugin ${name || '(empty)'}; known are ${known}`);
}
