/**
 * Scores nodes by the preferred affinity terms of the pod that select existing pods, and by those
 * of existing pods that select the pod.
 */
import type { Cycle } from '../framework/cycle.js';
import { scoreEach, scoreMax } from '../framework/plugin.js';
import type { NodeInfo } from '../model/node-info.js';
import type { AffinityTerm } from '../model/pod-info.js';
import { identityOf, termsCounter } from './selected-pods.js';
import { TopologyAmounts } from './topology-amounts.js';

export function podAffinityScores(
  cycle: Cycle,
  feasible: readonly NodeInfo[],
  hardWeight: number,
): Float64Array | undefined {
  const { pod, context } = cycle;
  const weights = new TopologyAmounts();
  for (const [terms, sign] of [
    [pod.preferredAffinity, 1],
    [pod.preferredAntiAffinity, -1],
  ] as const) {
    for (const term of terms) {
      const countOn = termsCounter(cycle, [term]);
      for (const node of context.cluster.nodes) {
        const count = countOn(node);
        if (count > 0) weights.add(node, term.topologyKey, sign * term.weight * count);
      }
    }
  }
  const derivedKey = `preferring\n${hardWeight}\n${identityOf(cycle)}`;
  for (const node of context.cluster.nodesWithAffinity) {
    const wishes = node.derive(derivedKey, () => wishesOf(cycle, node, hardWeight));
    for (const [topologyKey, weight] of wishes) weights.add(node, topologyKey, weight);
  }
  if (weights.isEmpty) return undefined;
  return normalised(scoreEach(feasible, (node) => weights.sum(node)));
}

/** Returns the weights, by topology key, of the terms of pods on the node that select the pod. */
function wishesOf(
  { pod, context }: Cycle,
  node: NodeInfo,
  hardWeight: number,
): ReadonlyMap<string, number> {
  const { namespaceLabels } = context.objects;
  const wishes = new Map<string, number>();
  const apply = (terms: readonly AffinityTerm[], weightOf: (term: AffinityTerm) => number) => {
    for (const term of terms) {
      const weight = weightOf(term);
      if (weight === 0 || !term.selects(pod, namespaceLabels)) continue;
      wishes.set(term.topologyKey, (wishes.get(term.topologyKey) ?? 0) + weight);
    }
  };
  for (const other of node.podsWithAffinity.values()) {
    apply(other.requiredAffinity, () => hardWeight);
    apply(other.preferredAffinity, ({ weight }) => weight);
    apply(other.preferredAntiAffinity, ({ weight }) => -weight);
  }
  return wishes;
}

/** Scales the sums of weights in place. */
function normalised(scores: Float64Array): Float64Array {
  let lowest = Number.POSITIVE_INFINITY;
  let highest = Number.NEGATIVE_INFINITY;
  for (const score of scores) {
    lowest = Math.min(lowest, score);
    highest = Math.max(highest, score);
  }
  const range = highest - lowest;
  for (let index = 0; index < scores.length; index++) {
    scores[index] = range > 0 ? Math.trunc(scoreMax * ((scores[index]! - lowest) / range)) : 0;
  }
  return scores;
}
