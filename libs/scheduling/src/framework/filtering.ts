/**
 * Finds the feasible nodes of a pod. A node for which other pods are nominated must have room for
 * those of at least the same priority too, and be feasible without them, because they may never
 * arrive.
 */
import { feasibleNodeCountMin, nodePercentageMin } from '../limits.js';
import type { NodeInfo } from '../model/node-info.js';
import type { PodInfo } from '../model/pod-info.js';
import { type Cycle, StateKey } from './cycle.js';
import type { NamedRejection, NodeFilter, Rejection } from './plugin.js';
import type { PluginWith, Profile } from './profile.js';

export interface FilterSearch {
  /**
   * The position in the list of nodes at which to begin, so that sampling covers the cluster
   * round-robin.
   */
  readonly start: number;
  /**
   * The share of feasible nodes to find before scoring, in percent; 0 derives it from the cluster
   * size.
   */
  readonly percentageOfNodesToScore: number;
  /** Whether to use the nominated node without a search if it is feasible. */
  readonly prefersNominatedNode: boolean;
}

export interface FilterResult {
  readonly feasible: readonly NodeInfo[];
  /** By node name. */
  readonly rejections: ReadonlyMap<string, NamedRejection>;
  /** The plugins that rejected a node. */
  readonly rejectedBy: ReadonlySet<string>;
  readonly evaluatedNodeCount: number;
  readonly nextStart: number;
}

interface NamedFilter {
  readonly plugin: string;
  readonly filter: NodeFilter;
}

/** Runs PreFilter and Filter. */
export function findFeasible(cycle: Cycle, profile: Profile, search: FilterSearch): FilterResult {
  const { nodes } = cycle.context.cluster;
  const rejected = preFilter(cycle, profile);
  if (rejected) {
    return {
      feasible: [],
      rejections: new Map(nodes.map((node) => [node.name, rejected])),
      rejectedBy: new Set([rejected.plugin]),
      evaluatedNodeCount: 0,
      nextStart: search.start,
    };
  }
  const nominated = search.prefersNominatedNode && cycle.pod.nominatedNode;
  const preferred = nominated ? cycle.context.cluster.node(nominated) : undefined;
  if (preferred && !rejectionOf(cycle, profile, preferred)) {
    return {
      feasible: [preferred],
      rejections: new Map(),
      rejectedBy: new Set(),
      evaluatedNodeCount: 1,
      nextStart: search.start,
    };
  }
  return filterNodes(cycle, profile, search);
}

function filterNodes(cycle: Cycle, profile: Profile, search: FilterSearch): FilterResult {
  const { nodes } = cycle.context.cluster;
  const filters = prepared(cycle, profile);
  const hasNominated = cycle.context.nominated.size > 0;
  const wanted = feasibleNodeCountToFind(nodes.length, search.percentageOfNodesToScore);
  const feasible: NodeInfo[] = [];
  const rejections = new Map<string, NamedRejection>();
  const rejectedBy = new Set<string>();
  let evaluatedNodeCount = 0;
  while (evaluatedNodeCount < nodes.length && feasible.length < wanted) {
    const node = nodes[(search.start + evaluatedNodeCount) % nodes.length]!;
    evaluatedNodeCount++;
    const failure = hasNominated
      ? checkNode(cycle, profile, filters, node)
      : firstFailure(filters, node);
    if (!failure) feasible.push(node);
    else {
      rejections.set(node.name, failure);
      rejectedBy.add(failure.plugin);
    }
  }
  const nextStart = nodes.length === 0 ? 0 : (search.start + evaluatedNodeCount) % nodes.length;
  return { feasible, rejections, rejectedBy, evaluatedNodeCount, nextStart };
}

function preFilter(cycle: Cycle, profile: Profile): NamedRejection | undefined {
  for (const plugin of profile.preFilters) {
    const rejected = plugin.preFilter(cycle);
    if (rejected) return namedRejection(plugin.name, rejected);
  }
  return undefined;
}

/** Without `...rejection`, because this runs for every rejected node of a cycle. */
function namedRejection(plugin: string, { reasons, isFinal }: Rejection): NamedRejection {
  return { plugin, reasons, isFinal };
}

/** A plugin, and its filter if that is the same in all simulations of the cycle. */
interface FilterEntry {
  readonly plugin: PluginWith<'filter'>;
  readonly fixed?: NamedFilter;
}

/**
 * By list of plugins. A plugin without `movePod` reads no state that simulations change, so that
 * all copies of a cycle share its filter.
 */
const filterEntries = new StateKey<Map<Profile['filters'], readonly FilterEntry[]>>('filters');

/** Compiles the filters for the present state of the cycle. */
function prepared(cycle: Cycle, { filters: plugins }: Pick<Profile, 'filters'>): NamedFilter[] {
  const byPlugins = cycle.once(filterEntries, () => new Map());
  let entries = byPlugins.get(plugins);
  if (!entries) {
    entries = entriesOf(cycle, plugins);
    byPlugins.set(plugins, entries);
  }
  const filters: NamedFilter[] = [];
  for (const { plugin, fixed } of entries) {
    if (fixed) filters.push(fixed);
    else {
      const filter = plugin.filter(cycle);
      if (filter) filters.push({ plugin: plugin.name, filter });
    }
  }
  return filters;
}

/** Omits plugins that do not apply to the pod. */
function entriesOf(cycle: Cycle, plugins: Profile['filters']): FilterEntry[] {
  const entries: FilterEntry[] = [];
  for (const plugin of plugins) {
    if (plugin.movePod) entries.push({ plugin });
    else {
      const filter = plugin.filter(cycle);
      if (filter) entries.push({ plugin, fixed: { plugin: plugin.name, filter } });
    }
  }
  return entries;
}

function checkNode(
  cycle: Cycle,
  profile: Profile,
  filters: readonly NamedFilter[],
  node: NodeInfo,
): NamedRejection | undefined {
  const nominated = withNominatedPods(cycle, profile, node);
  const failure = nominated && firstFailure(prepared(nominated.cycle, profile), nominated.node);
  return failure ?? firstFailure(filters, node);
}

interface Simulated {
  readonly cycle: Cycle;
  readonly node: NodeInfo;
}

/**
 * Returns a copy in which the pods that are nominated for the node, with at least the priority of
 * the pod, are on it; undefined without nominated pods.
 */
function withNominatedPods(
  cycle: Cycle,
  profile: Pick<Profile, 'filters'>,
  node: NodeInfo,
): Simulated | undefined {
  const nominated = cycle.context.nominated.on(node.name);
  if (nominated.length === 0) return undefined;
  const { pod } = cycle;
  const simulated = { cycle: cycle.clone(), node: node.clone() };
  for (const other of nominated) {
    if (other.priority < pod.priority || other.uid === pod.uid) continue;
    if (simulated.node.pods.has(other.key)) continue;
    movePod(simulated.cycle, profile, simulated.node, other, 1);
  }
  return simulated;
}

/** A rejection with the state in which it was decided. */
export interface FoundRejection extends Simulated {
  readonly rejection: NamedRejection;
}

/**
 * Returns the rejections of all filters of `plugins`, not only the first one. Pods that are
 * nominated for the node count if a filter rejects it for them.
 */
export function allRejections(
  cycle: Cycle,
  plugins: Pick<Profile, 'filters'>,
  node: NodeInfo,
): FoundRejection[] {
  const nominated = withNominatedPods(cycle, plugins, node);
  for (const state of nominated ? [nominated, { cycle, node }] : [{ cycle, node }]) {
    const found = prepared(state.cycle, plugins).flatMap(({ plugin, filter }) => {
      const failed = filter(state.node);
      return failed ? [{ ...state, rejection: namedRejection(plugin, failed) }] : [];
    });
    if (found.length > 0) return found;
  }
  return [];
}

/** Returns the rejection of the first filter that rejects the node. */
function firstFailure(filters: readonly NamedFilter[], node: NodeInfo): NamedRejection | undefined {
  for (const { plugin, filter } of filters) {
    const failed = filter(node);
    if (failed) return namedRejection(plugin, failed);
  }
  return undefined;
}

/** Runs the filters on one node; `cycle` and `node` may be simulated ones. */
export function rejectionOf(cycle: Cycle, profile: Profile, node: NodeInfo): Rejection | undefined {
  return checkNode(cycle, profile, prepared(cycle, profile), node);
}

/** Adds a pod to a simulated node (1) or removes it (-1), and updates the state of the cycle. */
export function movePod(
  cycle: Cycle,
  profile: Pick<Profile, 'filters'>,
  node: NodeInfo,
  pod: PodInfo,
  sign: 1 | -1,
): void {
  if (sign > 0) node.addPod(pod);
  else node.removePod(pod.key);
  for (const plugin of moversOf(profile)) plugin.movePod(cycle, node, pod, sign);
}

/** By list of plugins: a preemption moves thousands of pods. */
const movers = new WeakMap<Profile['filters'], readonly PluginWith<'movePod'>[]>();

function moversOf({ filters }: Pick<Profile, 'filters'>): readonly PluginWith<'movePod'>[] {
  let found = movers.get(filters);
  if (!found) {
    found = filters.filter((plugin): plugin is PluginWith<'filter' | 'movePod'> =>
      Boolean(plugin.movePod),
    );
    movers.set(filters, found);
  }
  return found;
}

/**
 * Returns the number of feasible nodes that ends the search. Small clusters are always searched
 * completely.
 */
export function feasibleNodeCountToFind(nodeCount: number, percentage: number): number {
  if (nodeCount < feasibleNodeCountMin || percentage >= 100) return nodeCount;
  const share =
    percentage > 0 ? percentage : Math.max(50 - Math.trunc(nodeCount / 125), nodePercentageMin);
  return Math.max(Math.trunc((nodeCount * share) / 100), feasibleNodeCountMin);
}

/** `0/3 nodes are available: 1 Insufficient cpu, 2 node(s) were unschedulable.` */
export function unschedulableMessage(
  nodeCount: number,
  rejections: ReadonlyMap<string, Rejection>,
): string {
  if (nodeCount === 0) return 'no nodes available to schedule pods';
  const counts = new Map<string, number>();
  for (const { reasons } of rejections.values()) {
    for (const reason of reasons) counts.set(reason, (counts.get(reason) ?? 0) + 1);
  }
  const texts = [...counts].map(([reason, count]) => `${count} ${reason}`).sort();
  return `0/${nodeCount} nodes are available: ${texts.join(', ')}.`;
}
