/**
 * Spreading of like pods over topology domains: a filter for constraints that must hold, a score for
 * those that should, and default constraints for pods that bring none.
 */
import { dialect } from '@orch/component';
import {
  type CycleContext,
  type FilterPlugin,
  type ScorePlugin,
  scoreMax,
} from '../framework/plugin.js';
import type { NodeInfo } from '../model/node-info.js';
import type { PodInfo, SpreadConstraint } from '../model/pod-info.js';
import type { LabelPredicate } from '../model/selectors.js';

/** Matching pods per topology value, for one constraint. */
type DomainCounts = Map<string, number>;

export const topologySpreadFilter: FilterPlugin = {
  name: 'PodTopologySpread',
  prepare(pod, context) {
    const hard = pod.spread.filter((entry) => entry.whenUnsatisfiable === 'DoNotSchedule');
    if (hard.length === 0) return undefined;
    const counts = hard.map((): DomainCounts => new Map());
    for (const node of context.cluster.nodes) {
      if (!eligible(pod, node, hard)) continue;
      hard.forEach((constraint, index) => {
        add(counts[index]!, node.labels[constraint.topologyKey]!, matching(node, pod, constraint));
      });
    }
    const fewest = counts.map(fewestOf);
    const own = hard.map((constraint) => (constraint.matches(pod.labels) ? 1 : 0));
    const missing = [
      "node(s) didn't match pod topology spread constraints (missing required label)",
    ];
    const skewed = ["node(s) didn't match pod topology spread constraints"];
    return (node) => {
      for (const [index, constraint] of hard.entries()) {
        const domain = node.labels[constraint.topologyKey];
        if (domain === undefined) return missing;
        const count = counts[index]!.get(domain) ?? 0;
        if (count + own[index]! - fewest[index]! > constraint.maxSkew) return skewed;
      }
      return undefined;
    };
  },
};

/** The fewer matching pods in the node's domains, the better; twice the weight of other scores. */
export const topologySpreadScore: ScorePlugin = {
  name: 'PodTopologySpread',
  weight: 2,
  prepare(pod, context, feasible) {
    const byDefault = pod.spread.length === 0;
    const soft = byDefault
      ? context.defaultSpread(pod)
      : pod.spread.filter((entry) => entry.whenUnsatisfiable === 'ScheduleAnyway');
    if (soft.length === 0) return undefined;
    const hostname = dialect().key('hostname');
    // A node without a label of the pod's own constraints is the worst; defaults do not ask for all.
    const complete = (node: NodeInfo) =>
      byDefault || soft.every((entry) => node.labels[entry.topologyKey] !== undefined);
    const ignored = new Set(feasible.filter((node) => !complete(node)));
    const counts = soft.map((constraint) => {
      const domains: DomainCounts = new Map();
      if (constraint.topologyKey === hostname) return domains;
      for (const node of feasible) {
        const domain = node.labels[constraint.topologyKey];
        if (domain !== undefined && !ignored.has(node)) domains.set(domain, 0);
      }
      return domains;
    });
    countOverCluster(pod, context, soft, counts, complete);
    const weights = soft.map((constraint, index) =>
      Math.log(
        (constraint.topologyKey === hostname
          ? feasible.length - ignored.size
          : counts[index]!.size) + 2,
      ),
    );
    return {
      score(node) {
        if (ignored.has(node)) return 0;
        let score = 0;
        soft.forEach((constraint, index) => {
          const domain = node.labels[constraint.topologyKey];
          if (domain === undefined) return;
          const count =
            constraint.topologyKey === hostname
              ? matching(node, pod, constraint)
              : (counts[index]!.get(domain) ?? 0);
          score += count * weights[index]! + (constraint.maxSkew - 1);
        });
        return Math.trunc(score);
      },
      normalise: (scores) => normalise(scores, feasible, ignored),
    };
  },
};

function countOverCluster(
  pod: PodInfo,
  context: CycleContext,
  soft: readonly SpreadConstraint[],
  counts: readonly DomainCounts[],
  complete: (node: NodeInfo) => boolean,
): void {
  if (counts.every((domains) => domains.size === 0)) return;
  for (const node of context.cluster.nodes) {
    if (!complete(node) || pod.requiredNodes?.(node) === false) continue;
    soft.forEach((constraint, index) => {
      const domains = counts[index]!;
      const domain = node.labels[constraint.topologyKey];
      if (domain === undefined || !domains.has(domain)) return;
      add(domains, domain, matching(node, pod, constraint));
    });
  }
}

/** Fewest pods is best: scores are turned round; nodes left out of the count stay at 0. */
function normalise(
  scores: Float64Array,
  feasible: readonly NodeInfo[],
  ignored: ReadonlySet<NodeInfo>,
): void {
  let lowest = Number.POSITIVE_INFINITY;
  let highest = 0;
  feasible.forEach((node, index) => {
    if (ignored.has(node)) return;
    lowest = Math.min(lowest, scores[index]!);
    highest = Math.max(highest, scores[index]!);
  });
  feasible.forEach((node, index) => {
    if (ignored.has(node)) scores[index] = 0;
    else if (highest === 0) scores[index] = scoreMax;
    else {
      scores[index] = Math.trunc((scoreMax * (highest + lowest - scores[index]!)) / highest);
    }
  });
}

/** Constraints for pods without their own: over nodes, and over zones more loosely. */
export function defaultSpreadConstraints(matches: LabelPredicate): SpreadConstraint[] {
  return [
    {
      maxSkew: 3,
      topologyKey: dialect().key('hostname'),
      whenUnsatisfiable: 'ScheduleAnyway',
      matches,
    },
    {
      maxSkew: 5,
      topologyKey: dialect().key('zone', 'topology'),
      whenUnsatisfiable: 'ScheduleAnyway',
      matches,
    },
  ];
}

function eligible(pod: PodInfo, node: NodeInfo, constraints: readonly SpreadConstraint[]): boolean {
  if (pod.requiredNodes?.(node) === false) return false;
  return constraints.every((constraint) => node.labels[constraint.topologyKey] !== undefined);
}

/** Pods of the pod's namespace on the node that the constraint counts; those on their way out do not. */
function matching(node: NodeInfo, pod: PodInfo, constraint: SpreadConstraint): number {
  let count = 0;
  for (const other of node.pods.values()) {
    if (other.namespace !== pod.namespace || other.terminating) continue;
    if (constraint.matches(other.labels)) count++;
  }
  return count;
}

function fewestOf(domains: DomainCounts): number {
  let fewest = Number.POSITIVE_INFINITY;
  for (const count of domains.values()) fewest = Math.min(fewest, count);
  return fewest;
}

function add(domains: DomainCounts, domain: string, count: number): void {
  domains.set(domain, (domains.get(domain) ?? 0) + count);
}
