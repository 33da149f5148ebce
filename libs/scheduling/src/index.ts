/** Which node a pod goes to: the pure cycle with its plugins, and the shell that watches and binds. */
export { ClusterCache } from './cache/cluster-cache.js';
export { runCycle } from './framework/cycle.js';
export { podInfo } from './model/pod-info.js';
export { SchedulingOptions } from './options.js';
export { filterPlugins, scorePlugins } from './plugins/registry.js';
export { Scheduler, type SchedulerParts, type SchedulerSettings } from './shell/scheduler.js';
export { SchedulerMetrics } from './shell/scheduler-metrics.js';
