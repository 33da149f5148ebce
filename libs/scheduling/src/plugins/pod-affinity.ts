/**
 * Affinity and anti-affinity between pods, over topology domains: required terms of the pod and of pods
 * already placed as a filter, preferred ones as a score. Counts per domain are made once per cycle;
 * terms of placed pods cost only on nodes that have such pods.
 */
import type { CycleContext, FilterPlugin, ScorePlugin } from '../framework/plugin.js';
import { scoreMax } from '../framework/plugin.js';
import type { NodeInfo } from '../model/node-info.js';
import type { AffinityTerm, PodInfo } from '../model/pod-info.js';

/** Topology key -> value -> count or weight. */
class Domains {
  private readonly byKey = new Map<string, Map<string, number>>();

  get empty(): boolean {
    return this.byKey.size === 0;
  }

  add(node: NodeInfo, topologyKey: string, amount: number): void {
    const value = node.labels[topologyKey];
    if (value === undefined) return;
    let values = this.byKey.get(topologyKey);
    if (!values) {
      values = new Map();
      this.byKey.set(topologyKey, values);
    }
    values.set(value, (values.get(value) ?? 0) + amount);
  }

  at(node: NodeInfo, topologyKey: string): number {
    const value = node.labels[topologyKey];
    return value === undefined ? 0 : (this.byKey.get(topologyKey)?.get(value) ?? 0);
  }

  /** Sum over all keys of what the node's domains hold. */
  sum(node: NodeInfo): number {
    let sum = 0;
    for (const [key, values] of this.byKey) {
      const value = node.labels[key];
      if (value !== undefined) sum += values.get(value) ?? 0;
    }
    return sum;
  }
}

export const podAffinityFilter: FilterPlugin = {
  name: 'InterPodAffinity',
  prepare(pod, context) {
    const repelled = domainsThatRepel(pod, context);
    const affinity = domainsOfAllTerms(pod.requiredAffinity, context);
    const antiAffinity = domainsOfEachTerm(pod.requiredAntiAffinity, context);
    if (repelled.empty && pod.requiredAffinity.length + pod.requiredAntiAffinity.length === 0) {
      return undefined;
    }
    // The first pod of a group that wants to be together may go anywhere.
    const firstOfItsGroup =
      affinity.empty &&
      pod.requiredAffinity.every((term) => term.selects(pod, context.namespaceLabels));
    const general = "node(s) didn't match pod affinity/anti-affinity rules";
    const byAffinity = [general, "node(s) didn't match pod affinity rules"];
    const byAntiAffinity = [general, "node(s) didn't match pod anti-affinity rules"];
    const byOthers = [general, "node(s) didn't satisfy existing pods anti-affinity rules"];
    return (node) => {
      for (const term of pod.requiredAffinity) {
        if (node.labels[term.topologyKey] === undefined) return byAffinity;
        if (!firstOfItsGroup && affinity.at(node, term.topologyKey) === 0) return byAffinity;
      }
      for (const term of pod.requiredAntiAffinity) {
        if (antiAffinity.at(node, term.topologyKey) > 0) return byAntiAffinity;
      }
      return repelled.sum(node) > 0 ? byOthers : undefined;
    };
  },
};

/** Domains from which pods already placed keep this pod away. */
function domainsThatRepel(pod: PodInfo, context: CycleContext): Domains {
  const domains = new Domains();
  for (const node of context.cluster.nodesWithRequiredAntiAffinity) {
    for (const other of node.podsWithRequiredAntiAffinity.values()) {
      for (const term of other.requiredAntiAffinity) {
        if (term.selects(pod, context.namespaceLabels)) domains.add(node, term.topologyKey, 1);
      }
    }
  }
  return domains;
}

/** Domains with pods that match every one of the terms. */
function domainsOfAllTerms(terms: readonly AffinityTerm[], context: CycleContext): Domains {
  const domains = new Domains();
  if (terms.length === 0) return domains;
  for (const node of context.cluster.nodes) {
    for (const other of node.pods.values()) {
      if (!terms.every((term) => term.selects(other, context.namespaceLabels))) continue;
      for (const term of terms) domains.add(node, term.topologyKey, 1);
    }
  }
  return domains;
}

/** Domains with pods that match one of the terms, under that term's key. */
function domainsOfEachTerm(terms: readonly AffinityTerm[], context: CycleContext): Domains {
  const domains = new Domains();
  if (terms.length === 0) return domains;
  for (const node of context.cluster.nodes) {
    for (const other of node.pods.values()) {
      for (const term of terms) {
        if (term.selects(other, context.namespaceLabels)) domains.add(node, term.topologyKey, 1);
      }
    }
  }
  return domains;
}

export const podAffinityScore: ScorePlugin = {
  name: 'InterPodAffinity',
  weight: 1,
  prepare(pod, context) {
    const wishes = pod.preferredAffinity.length + pod.preferredAntiAffinity.length > 0;
    // Without wishes of its own only pods that have affinity terms can matter.
    const nodes = wishes ? context.cluster.nodes : context.cluster.nodesWithAffinity;
    const domains = new Domains();
    for (const node of nodes) {
      const others = wishes ? node.pods.values() : node.podsWithAffinity.values();
      for (const other of others) weigh(pod, other, node, domains, context);
    }
    if (domains.empty) return undefined;
    return {
      score: (node) => domains.sum(node),
      normalise(scores) {
        let lowest = Number.POSITIVE_INFINITY;
        let highest = Number.NEGATIVE_INFINITY;
        for (const score of scores) {
          lowest = Math.min(lowest, score);
          highest = Math.max(highest, score);
        }
        const range = highest - lowest;
        for (let index = 0; index < scores.length; index++) {
          scores[index] =
            range > 0 ? Math.trunc((scoreMax * (scores[index]! - lowest)) / range) : 0;
        }
      },
    };
  },
};

/** Adds what the pod thinks of `other`, and `other` of the pod, to the domains of other's node. */
function weigh(
  pod: PodInfo,
  other: PodInfo,
  node: NodeInfo,
  domains: Domains,
  context: CycleContext,
): void {
  const { namespaceLabels, hardPodAffinityWeight } = context;
  const apply = (terms: readonly AffinityTerm[], of: PodInfo, sign: number, weight?: number) => {
    for (const term of terms) {
      if (!term.selects(of, namespaceLabels)) continue;
      domains.add(node, term.topologyKey, sign * (weight ?? term.weight));
    }
  };
  apply(pod.preferredAffinity, other, 1);
  apply(pod.preferredAntiAffinity, other, -1);
  if (hardPodAffinityWeight > 0) apply(other.requiredAffinity, pod, 1, hardPodAffinityWeight);
  apply(other.preferredAffinity, pod, 1);
  apply(other.preferredAntiAffinity, pod, -1);
}
