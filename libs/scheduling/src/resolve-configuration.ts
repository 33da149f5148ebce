/** The configuration of the scheduler: from a file, or from flags. */
import type { Features } from '@orch/component';
import { buildProfile } from './configuration/build-profile.js';
import { defaultPluginSets } from './configuration/plugin-sets.js';
import { readPolicy } from './configuration/policy.js';
import {
  readConfiguration,
  type SchedulerConfiguration,
} from './configuration/scheduler-configuration.js';
import { backoffInitialMs, backoffMaxMs } from './limits.js';
import type { SchedulingOptions } from './options.js';

/** Throws ValueError if the file is not valid. */
export function resolveConfiguration(
  options: SchedulingOptions,
  features: Features,
): SchedulerConfiguration {
  const { configFile, policyFile, schedulerName, algorithmProvider } = options;
  const hasDefaultSpread = features.enabled('DefaultPodTopologySpread');
  if (configFile) return readConfiguration(configFile, { schedulerName, hasDefaultSpread });
  const { percentageOfNodesToScore, hardPodAffinityWeight } = options;
  const common = {
    percentageOfNodesToScore,
    ...{ backoffInitialMs, backoffMaxMs },
    process: { election: {} },
    warnings: [],
  };
  const context = { hardPodAffinityWeight, hasDefaultSpread, ignoredResources: [] };
  if (policyFile) return { ...common, ...readPolicy(policyFile, schedulerName, context) };
  const definition = {
    schedulerName,
    sets: defaultPluginSets(algorithmProvider, hasDefaultSpread),
    args: new Map(),
    source: 'flags',
  };
  return { ...common, profiles: [buildProfile(definition, context)], extenders: [] };
}
