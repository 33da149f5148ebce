/**
 * Affinity and anti-affinity between pods, by topology domain: a filter for required terms of the
 * pod and of existing pods, and a score for preferred terms. Counts per domain are computed once
 * per cycle; terms of existing pods are evaluated only on nodes that have such pods.
 */
import { type Cycle, StateKey } from '../framework/cycle.js';
import { finalRejection, type NodeFilter, type Plugin, rejection } from '../framework/plugin.js';
import { nodeHas, nodeHasNot, type Remedy } from '../framework/remedy.js';
import type { NodeInfo } from '../model/node-info.js';
import type { PodInfo } from '../model/pod-info.js';
import { podAffinityScores } from './pod-affinity-score.js';
import { identityOf, termsCounter } from './selected-pods.js';
import { TopologyAmounts } from './topology-amounts.js';

/** Pods by domain. */
interface RequiredTerms {
  /** Existing pods with a required anti-affinity term that selects the pod. */
  readonly repelling: TopologyAmounts;
  /** Existing pods that match all affinity terms of the pod. */
  readonly attracting: TopologyAmounts;
  /** Existing pods that match an anti-affinity term of the pod. */
  readonly repelled: TopologyAmounts;
}

const termsState = new StateKey<RequiredTerms>(
  'required pod affinity',
  ({ repelling, attracting, repelled }) => ({
    repelling: repelling.clone(),
    attracting: attracting.clone(),
    repelled: repelled.clone(),
  }),
);

export const hardPodAffinityWeightDefault = 1;

/**
 * @param hardWeight score weight of required affinity terms of existing pods that select the pod
 */
export function interPodAffinity(hardWeight = hardPodAffinityWeightDefault): Plugin {
  return {
    name: 'InterPodAffinity',
    retryOn: ['node added', 'node changed', 'pod assigned', 'pod removed'],
    preFilter(cycle) {
      requiredTerms(cycle);
      return undefined;
    },
    filter: (cycle) => requiredFilter(cycle, requiredTerms(cycle)),
    remedies: (cycle, node) => affinityRemedies(cycle, requiredTerms(cycle), node),
    movePod(cycle, node, pod, sign) {
      if (!concerns(cycle.pod, pod)) return;
      count(cycle, requiredTerms(cycle), node, pod, sign);
    },
    // The weights are computed with the scores.
    preScore: () => undefined,
    score: (cycle, feasible) => podAffinityScores(cycle, feasible, hardWeight),
  };
}

/** Whether a move of the other pod may change the required terms. */
function concerns(pod: PodInfo, other: PodInfo): boolean {
  return (
    other.requiredAntiAffinity.length > 0 ||
    pod.requiredAffinity.length > 0 ||
    pod.requiredAntiAffinity.length > 0
  );
}

function requiredTerms(cycle: Cycle): RequiredTerms {
  return cycle.once(termsState, () => {
    const { pod, context } = cycle;
    const terms = {
      repelling: new TopologyAmounts(),
      attracting: new TopologyAmounts(),
      repelled: new TopologyAmounts(),
    };
    const repellingKey = `repelling\n${identityOf(cycle)}`;
    for (const node of context.cluster.nodesWithRequiredAntiAffinity) {
      const keys = node.derive(repellingKey, () => repellingTerms(cycle, node));
      for (const key of keys) terms.repelling.add(node, key, 1);
    }
    if (pod.requiredAffinity.length + pod.requiredAntiAffinity.length === 0) return terms;
    const attractedOn = termsCounter(cycle, pod.requiredAffinity);
    const repelledOn = pod.requiredAntiAffinity.map((term) => termsCounter(cycle, [term]));
    for (const node of context.cluster.nodes) {
      const attracted = attractedOn(node);
      for (const { topologyKey } of pod.requiredAffinity) {
        terms.attracting.add(node, topologyKey, attracted);
      }
      for (const [index, { topologyKey }] of pod.requiredAntiAffinity.entries()) {
        terms.repelled.add(node, topologyKey, repelledOn[index]!(node));
      }
    }
    return terms;
  });
}

/** Returns the topology keys of the terms of pods on the node that repel the pod. */
function repellingTerms({ pod, context }: Cycle, node: NodeInfo): string[] {
  const { namespaceLabels } = context.objects;
  return [...node.podsWithRequiredAntiAffinity.values()].flatMap(({ requiredAntiAffinity }) =>
    requiredAntiAffinity
      .filter((term) => term.selects(pod, namespaceLabels))
      .map(({ topologyKey }) => topologyKey),
  );
}

function count(
  cycle: Cycle,
  terms: RequiredTerms,
  node: NodeInfo,
  other: PodInfo,
  sign: 1 | -1,
): void {
  countRepelling(cycle, terms, node, other, sign);
  countSelected(cycle, terms, node, other, sign);
}

function countRepelling(
  { pod, context }: Cycle,
  { repelling }: RequiredTerms,
  node: NodeInfo,
  other: PodInfo,
  sign: 1 | -1,
): void {
  for (const term of other.requiredAntiAffinity) {
    if (!term.selects(pod, context.objects.namespaceLabels)) continue;
    repelling.add(node, term.topologyKey, sign);
  }
}

function countSelected(
  { pod, context }: Cycle,
  { attracting, repelled }: RequiredTerms,
  node: NodeInfo,
  other: PodInfo,
  sign: 1 | -1,
): void {
  const { namespaceLabels } = context.objects;
  if (
    pod.requiredAffinity.length > 0 &&
    pod.requiredAffinity.every((term) => term.selects(other, namespaceLabels))
  ) {
    for (const term of pod.requiredAffinity) attracting.add(node, term.topologyKey, sign);
  }
  for (const term of pod.requiredAntiAffinity) {
    if (term.selects(other, namespaceLabels)) repelled.add(node, term.topologyKey, sign);
  }
}

const general = "node(s) didn't match pod affinity/anti-affinity rules";

function requiredFilter({ pod, context }: Cycle, terms: RequiredTerms): NodeFilter | undefined {
  const { repelling, attracting, repelled } = terms;
  if (repelling.isEmpty && pod.requiredAffinity.length + pod.requiredAntiAffinity.length === 0) {
    return undefined;
  }
  const isFirst = isFirstOfGroup({ pod, context }, terms);
  const byAffinity = finalRejection(general, "node(s) didn't match pod affinity rules");
  const byAntiAffinity = rejection(general, "node(s) didn't match pod anti-affinity rules");
  const byOthers = rejection(general, "node(s) didn't satisfy existing pods anti-affinity rules");
  return (node) => {
    for (const term of pod.requiredAffinity) {
      if (node.labels[term.topologyKey] === undefined) return byAffinity;
      if (!isFirst && attracting.get(node, term.topologyKey) === 0) return byAffinity;
    }
    for (const term of pod.requiredAntiAffinity) {
      if (repelled.get(node, term.topologyKey) > 0) return byAntiAffinity;
    }
    return repelling.sum(node) > 0 ? byOthers : undefined;
  };
}

/** The first pod of a group with affinity to itself may run on any node that has the keys. */
function isFirstOfGroup(
  { pod, context }: Pick<Cycle, 'pod' | 'context'>,
  { attracting }: RequiredTerms,
): boolean {
  const { namespaceLabels } = context.objects;
  return (
    attracting.isEmpty && pod.requiredAffinity.every((term) => term.selects(pod, namespaceLabels))
  );
}

function affinityRemedies(cycle: Cycle, terms: RequiredTerms, node: NodeInfo): Remedy[] {
  const { pod } = cycle;
  const { repelling, attracting, repelled } = terms;
  const keysOf = (affinity: typeof pod.requiredAffinity) => [
    ...new Set(affinity.map(({ topologyKey }) => topologyKey)),
  ];
  const keys = keysOf(pod.requiredAffinity);
  const unlabelled = keys.filter((key) => node.labels[key] === undefined);
  const lacking = isFirstOfGroup(cycle, terms)
    ? []
    : keys.filter((key) => !unlabelled.includes(key) && attracting.get(node, key) === 0);
  const repelledBy = keysOf(pod.requiredAntiAffinity).filter((key) => repelled.get(node, key) > 0);
  return [
    ...unlabelled.map((key) => nodeHasNot(`label ${key} of the pod affinity`)),
    ...lacking.map((key) => nodeHasNot(`a pod that the pod affinity selects in its ${key}`)),
    ...repelledBy.map((key) => nodeHas(`a pod that the pod anti-affinity selects in its ${key}`)),
    ...(repelling.sum(node) > 0
      ? [nodeHas('a pod in its domain whose anti-affinity selects this pod')]
      : []),
  ];
}
