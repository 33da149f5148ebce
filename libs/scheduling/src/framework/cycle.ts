/**
 * One scheduling cycle: which node a pod goes to, or why none. Pure: the state that lives on between
 * cycles (where the next search starts, the random numbers) is passed in by the owner.
 */
import { feasibleNodeCountMin, nodePercentageMin } from '../limits.js';
import type { NodeInfo } from '../model/node-info.js';
import type { PodInfo } from '../model/pod-info.js';
import type { CycleContext, FilterPlugin, NodeFilter, ScorePlugin } from './plugin.js';

export interface CyclePlugins {
  readonly filters: readonly FilterPlugin[];
  readonly scores: readonly ScorePlugin[];
}

export interface CycleSearch {
  /** Position in the list of nodes at which to begin, so that sampling goes round the cluster. */
  readonly start: number;
  /** Share of nodes to find feasible before scoring, in percent; 0 chooses by the cluster's size. */
  readonly percentageOfNodesToScore: number;
  /** Uniform in [0, 1): decides between nodes of equal score. */
  readonly random: () => number;
}

export type CycleResult =
  | {
      readonly node: string;
      readonly evaluatedNodeCount: number;
      readonly feasibleNodeCount: number;
      readonly nextStart: number;
    }
  | {
      readonly node: undefined;
      readonly evaluatedNodeCount: number;
      /** For people: why no node takes the pod. */
      readonly message: string;
      readonly nextStart: number;
    };

export function runCycle(
  pod: PodInfo,
  context: CycleContext,
  plugins: CyclePlugins,
  search: CycleSearch,
): CycleResult {
  const { nodes } = context.cluster;
  const found = findFeasible(pod, context, plugins.filters, search);
  const { feasible, evaluatedNodeCount, nextStart } = found;
  if (feasible.length === 0) {
    const message = refusalMessage(nodes.length, found.reasonCounts);
    return { node: undefined, evaluatedNodeCount, message, nextStart };
  }
  const best =
    feasible.length === 1
      ? feasible[0]!
      : chooseBest(feasible, totalScores(pod, context, plugins.scores, feasible), search.random);
  return {
    node: best.name,
    evaluatedNodeCount,
    feasibleNodeCount: feasible.length,
    nextStart,
  };
}

interface Found {
  readonly feasible: readonly NodeInfo[];
  readonly reasonCounts: ReadonlyMap<string, number>;
  readonly evaluatedNodeCount: number;
  readonly nextStart: number;
}

function findFeasible(
  pod: PodInfo,
  context: CycleContext,
  plugins: readonly FilterPlugin[],
  search: CycleSearch,
): Found {
  const { nodes } = context.cluster;
  const filters = plugins
    .map((plugin) => plugin.prepare(pod, context))
    .filter((filter): filter is NodeFilter => filter !== undefined);
  const wanted = feasibleNodesWanted(nodes.length, search.percentageOfNodesToScore);
  const feasible: NodeInfo[] = [];
  const reasonCounts = new Map<string, number>();
  let evaluatedNodeCount = 0;
  while (evaluatedNodeCount < nodes.length && feasible.length < wanted) {
    const node = nodes[(search.start + evaluatedNodeCount) % nodes.length]!;
    evaluatedNodeCount++;
    const reasons = firstRefusal(filters, node);
    if (!reasons) feasible.push(node);
    else {
      for (const reason of reasons) reasonCounts.set(reason, (reasonCounts.get(reason) ?? 0) + 1);
    }
  }
  const nextStart = nodes.length === 0 ? 0 : (search.start + evaluatedNodeCount) % nodes.length;
  return { feasible, reasonCounts, evaluatedNodeCount, nextStart };
}

function firstRefusal(
  filters: readonly NodeFilter[],
  node: NodeInfo,
): readonly string[] | undefined {
  for (const filter of filters) {
    const reasons = filter(node);
    if (reasons) return reasons;
  }
  return undefined;
}

/** How many feasible nodes end the search. Small clusters are always searched in full. */
export function feasibleNodesWanted(nodeCount: number, percentage: number): number {
  if (nodeCount < feasibleNodeCountMin || percentage >= 100) return nodeCount;
  const share =
    percentage > 0 ? percentage : Math.max(50 - Math.trunc(nodeCount / 125), nodePercentageMin);
  return Math.max(Math.trunc((nodeCount * share) / 100), feasibleNodeCountMin);
}

/** Weighted sums of all scores, in the order of `feasible`. */
export function totalScores(
  pod: PodInfo,
  context: CycleContext,
  plugins: readonly ScorePlugin[],
  feasible: readonly NodeInfo[],
): Float64Array {
  const totals = new Float64Array(feasible.length);
  const scores = new Float64Array(feasible.length);
  for (const plugin of plugins) {
    const scorer = plugin.prepare(pod, context, feasible);
    if (!scorer) continue;
    for (let index = 0; index < feasible.length; index++) {
      scores[index] = scorer.score(feasible[index]!);
    }
    scorer.normalise?.(scores);
    for (let index = 0; index < feasible.length; index++) {
      totals[index]! += scores[index]! * plugin.weight;
    }
  }
  return totals;
}

/** The highest score; each of several equals is as likely. */
function chooseBest(
  feasible: readonly NodeInfo[],
  totals: Float64Array,
  random: () => number,
): NodeInfo {
  let best = 0;
  let equals = 1;
  for (let index = 1; index < feasible.length; index++) {
    if (totals[index]! > totals[best]!) {
      best = index;
      equals = 1;
    } else if (totals[index] === totals[best]) {
      equals++;
      if (random() < 1 / equals) best = index;
    }
  }
  return feasible[best]!;
}

/** `0/3 nodes are available: 1 Insufficient cpu, 2 node(s) were unschedulable.` */
function refusalMessage(nodeCount: number, reasonCounts: ReadonlyMap<string, number>): string {
  if (nodeCount === 0) return 'no nodes available to schedule pods';
  const reasons = [...reasonCounts].map(([reason, count]) => `${count} ${reason}`).sort();
  return `0/${nodeCount} nodes are available: ${reasons.join(', ')}.`;
}
