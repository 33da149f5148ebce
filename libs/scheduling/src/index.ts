export { ClusterCache, type ClusterView } from './cache/cluster-cache.js';
export {
  type CyclePlugins,
  type CycleResult,
  type CycleSearch,
  runCycle,
} from './framework/cycle.js';
export type {
  CycleContext,
  FilterPlugin,
  NodeFilter,
  NodeScorer,
  ScorePlugin,
} from './framework/plugin.js';
export { NodeInfo } from './model/node-info.js';
export { type PodInfo, podInfo, podKey } from './model/pod-info.js';
export { SchedulingOptions } from './options.js';
export {
  type AlgorithmProvider,
  algorithmProviders,
  filterPlugins,
  scorePlugins,
} from './plugins/registry.js';
export { SchedulingQueue } from './queue/scheduling-queue.js';
export { Scheduler, type SchedulerParts, type SchedulerSettings } from './shell/scheduler.js';
export { SchedulerMetrics } from './shell/scheduler-metrics.js';
