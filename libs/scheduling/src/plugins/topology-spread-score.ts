/**
 * Scores nodes higher, the fewer matching pods their domains have. Domains of a key with many
 * values weigh more. A node that lacks one of the keys scores 0.
 */
import { dialect } from '@orch/component';
import type { Cycle } from '../framework/cycle.js';
import { scoreEach, scoreMax } from '../framework/plugin.js';
import type { NodeInfo } from '../model/node-info.js';
import type { SpreadConstraint } from '../model/pod-info.js';
import { matchingCounter } from './matching-pods.js';
import { DomainCounts, nodesWithAllKeys } from './topology-spread-counts.js';

export function spreadScores(
  { pod, context }: Cycle,
  constraints: readonly SpreadConstraint[],
  feasible: readonly NodeInfo[],
): Float64Array {
  const scores = new Float64Array(feasible.length);
  const ranked = nodesWithAllKeys(feasible, constraints);
  if (ranked.length === 0) return scores;
  const hostname = dialect().key('hostname');
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
  const costs = scoreEach(ranked, (node) => {
    let cost = 0;
    for (let index = 0; index < constraints.length; index++) {
      const { topologyKey, maxSkew } = constraints[index]!;
      const count =
        topologyKey === hostname ? counters[index]!(node) : (counts?.at(index, node) ?? 0);
      cost += count * weights[index]! + (maxSkew - 1);
    }
    return Math.trunc(cost);
  });
  reverse(costs);
  // The ranked nodes are in the order of the feasible ones.
  let next = 0;
  for (let index = 0; next < ranked.length; index++) {
    if (feasible[index] === ranked[next]) scores[index] = costs[next++]!;
  }
  return scores;
}

/** Turns costs into scores, in place, because the fewest pods are best. */
function reverse(costs: Float64Array): void {
  let lowest = Number.POSITIVE_INFINITY;
  let highest = 0;
  for (const cost of costs) {
    lowest = Math.min(lowest, cost);
    highest = Math.max(highest, cost);
  }
  for (let index = 0; index < costs.length; index++) {
    costs[index] =
      highest === 0
        ? scoreMax
        : Math.trunc((scoreMax * (highest + lowest - costs[index]!)) / highest);
  }
}
