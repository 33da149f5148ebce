/**
 * The scheduler: the pure scheduling cycle with its plugins, and the shell that watches and binds.
 */
export { Assumptions } from './cache/assumptions.js';
export { ClusterCache } from './cache/cluster-cache.js';
export { buildProfile } from './configuration/build-profile.js';
export { type AlgorithmProvider, defaultPluginSets } from './configuration/plugin-sets.js';
export type { ProcessConfiguration } from './configuration/process-configuration.js';
export type { SchedulerConfiguration } from './configuration/scheduler-configuration.js';
export { Cycle, type CycleContext } from './framework/cycle.js';
export { findFeasible, movePod, rejectionOf } from './framework/filtering.js';
export type { Profile } from './framework/profile.js';
export { chooseBest, scoreNodes } from './framework/scoring.js';
export type { NodeInfo } from './model/node-info.js';
export { podInfo } from './model/pod-info.js';
export { SchedulingOptions } from './options.js';
export { chooseCandidate } from './plugins/preemption/choose-candidate.js';
export { resolveConfiguration } from './resolve-configuration.js';
export { type ExplainResult, Scheduler, type SchedulerDependencies } from './shell/scheduler.js';
export { SchedulerMetrics } from './shell/scheduler-metrics.js';
