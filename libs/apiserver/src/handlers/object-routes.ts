/** The handlers of requests on objects themselves, by verb, and of virtual kinds, by kind. */
import type { Registry } from '@orch/registry';
import { CompressedLists } from '../response/compressed-lists.js';
import type { WatchDependencies } from '../watch/serve-watch.js';
import { componentStatusHandler } from './component-statuses.js';
import { handleCreate } from './create.js';
import { handleDelete, handleDeleteCollection } from './delete.js';
import type { Handler } from './handler.js';
import type { NodeSummaries } from './node-summaries.js';
import { handlePatch } from './patch.js';
import { namedBindingHandler } from './pod-actions.js';
import { handleGet, listHandler, watchHandler } from './read.js';
import { replaceHandler } from './replace.js';
import { nodeMetricsHandler, podMetricsHandler } from './resource-metrics.js';

export function objectRoutes(
  registry: Registry,
  watch: WatchDependencies,
): ReadonlyMap<string, Handler> {
  return new Map<string, Handler>([
    ['get', handleGet],
    ['list', listHandler(new CompressedLists())],
    ['watch', watchHandler(watch)],
    ['create', handleCreate],
    ['update', replaceHandler(registry.admission)],
    ['patch', handlePatch],
    ['delete', handleDelete],
    ['deletecollection', handleDeleteCollection],
  ]);
}

/** Kinds that are not stored; the reviews are the others. */
export function virtualRoutes(
  registry: Registry,
  summaries: NodeSummaries,
): ReadonlyMap<string, Handler> {
  return new Map<string, Handler>([
    ['Binding', namedBindingHandler(registry)],
    ['ComponentStatus', componentStatusHandler(registry)],
    ['NodeMetrics', nodeMetricsHandler(registry, summaries)],
    ['PodMetrics', podMetricsHandler(registry, summaries)],
  ]);
}
