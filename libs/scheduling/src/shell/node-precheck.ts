/**
 * Decides whether a changed node may fit a waiting pod, with the filters that depend only on the
 * node, so that a change of one node does not retry thousands of pods that it cannot help.
 */
import type { ClusterCache } from '../cache/cluster-cache.js';
import type { NodeFilter } from '../framework/plugin.js';
import type { Profile } from '../framework/profile.js';
import type { PodInfo } from '../model/pod-info.js';

export interface NodePrecheckDependencies {
  readonly cache: ClusterCache;
  /** By scheduler name. */
  readonly profiles: ReadonlyMap<string, Profile>;
}

export class NodePrecheck {
  private readonly localPlugins: ReadonlySet<string>;
  /** The filters of a pod, compiled at the first check. */
  private readonly filters = new WeakMap<PodInfo, readonly NodeFilter[]>();

  constructor(private readonly dependencies: NodePrecheckDependencies) {
    this.localPlugins = new Set(
      [...dependencies.profiles.values()].flatMap(({ filters }) =>
        filters.filter(({ precheck }) => precheck).map(({ name }) => name),
      ),
    );
  }

  /** Whether all these plugins depend on nothing but the pod and the node. */
  areLocal(plugins: Iterable<string>): boolean {
    for (const plugin of plugins) if (!this.localPlugins.has(plugin)) return false;
    return true;
  }

  mayFit(pod: PodInfo, nodeName: string): boolean {
    const node = this.dependencies.cache.node(nodeName);
    return node !== undefined && this.filtersOf(pod).every((filter) => !filter(node));
  }

  private filtersOf(pod: PodInfo): readonly NodeFilter[] {
    let filters = this.filters.get(pod);
    if (!filters) {
      const plugins = this.dependencies.profiles.get(pod.schedulerName)?.filters ?? [];
      filters = plugins.flatMap(({ precheck }) => precheck?.(pod) ?? []);
      this.filters.set(pod, filters);
    }
    return filters;
  }
}
