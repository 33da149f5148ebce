/**
 * The configuration file of the scheduler: profiles, extenders, back-off, and the settings of the
 * process that otherwise are flags.
 */
import { dialect, ValueError } from '@orch/component';
import type { Profile } from '../framework/profile.js';
import { backoffInitialMs, backoffMaxMs } from '../limits.js';
import { buildProfile } from './build-profile.js';
import { ConfigurationMap } from './configuration-map.js';
import { type ExtenderOptions, readExtenders } from './extender-configuration.js';
import { defaultPluginSets } from './plugin-sets.js';
import { type ProcessConfiguration, readProcess } from './process-configuration.js';
import { readProfiles } from './read-profiles.js';

export interface SchedulerConfiguration {
  /** At least one, with different names. */
  readonly profiles: readonly Profile[];
  readonly extenders: readonly ExtenderOptions[];
  /** 0 derives it from the cluster size. */
  readonly percentageOfNodesToScore: number;
  readonly backoffInitialMs: number;
  readonly backoffMaxMs: number;
  readonly process: ProcessConfiguration;
  /** Fields without effect, for the log. */
  readonly warnings: readonly string[];
}

export interface ConfigurationDefaults {
  /** The name of a profile without a name. */
  readonly schedulerName: string;
  readonly hasDefaultSpread: boolean;
}

/** Throws ValueError, which names the file and the field. */
export function readConfiguration(
  file: string,
  defaults: ConfigurationDefaults,
): SchedulerConfiguration {
  const root = ConfigurationMap.ofFile(file);
  checkType(root, file);
  const extenders = readExtenders(root);
  const sets = defaultPluginSets('DefaultProvider', defaults.hasDefaultSpread);
  const context = {
    hasDefaultSpread: defaults.hasDefaultSpread,
    ignoredResources: extenders.flatMap(({ ignoredResources }) => ignoredResources),
  };
  const definitions = readProfiles(root, sets, defaults.schedulerName, file);
  const warnings: string[] = [];
  const result = {
    profiles: definitions.map((definition) => buildProfile(definition, context)),
    extenders,
    percentageOfNodesToScore: root.integer('percentageOfNodesToScore', 0, 100) ?? 0,
    ...readBackoff(root),
    process: readProcess(root, warnings),
    warnings,
  };
  root.finish();
  return result;
}

function checkType(root: ConfigurationMap, file: string): void {
  const { group, kind } = dialect().schedulerConfiguration;
  const apiVersion = `${group}/v1beta1`;
  if (root.text('apiVersion') === apiVersion && root.text('kind') === kind) return;
  throw new ValueError(`${file}: not a ${kind} of ${apiVersion}`);
}

function readBackoff(root: ConfigurationMap) {
  const initial = root.integer('podInitialBackoffSeconds', 1);
  const max = root.integer('podMaxBackoffSeconds', 1);
  const result = {
    backoffInitialMs: initial === undefined ? backoffInitialMs : initial * 1_000,
    backoffMaxMs: max === undefined ? backoffMaxMs : max * 1_000,
  };
  if (result.backoffMaxMs < result.backoffInitialMs) {
    throw root.fault('podMaxBackoffSeconds', 'must not be less than podInitialBackoffSeconds');
  }
  return result;
}
