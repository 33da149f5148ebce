/**
 * Scores nodes higher, the fewer matching pods their domains have. Domains of a key with many
 * values weigh more. A node that lacks one of the keys scores 0.
 */
import { dialect } from '@orch/component';
import type { Cycle } from '../framework/cycle.js';
import { type NodeScorer, scoreMax } from '../framework/plugin.js';
import type { NodeInfo } from '../model/node-info.js';
import type { SpreadConstraint } from '../model/pod-info.js';
import { matchingCounter } from './matching-pods.js';
import { DomainCounts, hasAllKeys } from './topology-spread-counts.js';

export function spreadScorer(
  { pod, context }: Cycle,
  constraints: readonly SpreadConstraint[],
  feasible: readonly NodeInfo[],
): NodeScorer {
  const hostname = dialect().key('hostname');
  const ranked = feasible.filter((node) => hasAllKeys(node, constraints));
  const isRanked = new Set(ranked);
  // A node is its own domain, so that only the others need counts over the cluster.
  const hasWideDomains = constraints.some(({ topologyKey }) => topologyKey !== hostname);
  const counts = hasWideDomains
    ? DomainCounts.ofCluster(pod, context, constraints, 'eligible')
    : undefined;
  const weights = constraints.map(({ topologyKey }) => {
    const domains =
      topologyKey === hostname ? ranked : new Set(ranked.map((node) => node.labels[topologyKey]));
    return Math.log(('size' in domains ? domains.size : domains.length) + 2);
  });
  const counters = constraints.map(({ selector }) => matchingCounter(pod.namespace, selector));
  return {
    score(node) {
      if (!isRanked.has(node)) return 0;
      let score = 0;
      constraints.forEach((constraint, index) => {
        const count =
          constraint.topologyKey === hostname
            ? counters[index]!(node)
            : (counts?.at(index, node) ?? 0);
        score += count * weights[index]! + (constraint.maxSkew - 1);
      });
      return Math.trunc(score);
    },
    normalise: (scores) => normalise(scores, feasible, isRanked),
  };
}

/** Reverses the scores, because the fewest pods are best. */
function normalise(
  scores: Float64Array,
  feasible: readonly NodeInfo[],
  ranked: ReadonlySet<NodeInfo>,
): void {
  let lowest = Number.POSITIVE_INFINITY;
  let highest = 0;
  feasible.forEach((node, index) => {
    if (!ranked.has(node)) return;
    lowest = Math.min(lowest, scores[index]!);
    highest = Math.max(highest, scores[index]!);
  });
  feasible.forEach((node, index) => {
    if (!ranked.has(node)) scores[index] = 0;
    else if (highest === 0) scores[index] = scoreMax;
    else scores[index] = Math.trunc((scoreMax * (highest + lowest - scores[index]!)) / highest);
  });
}
