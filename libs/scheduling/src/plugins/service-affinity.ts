/**
 * Runs all pods of a service on nodes with the same values of some labels: the first pod decides.
 * The score spreads the pods of a service over the values of other labels.
 */
import { type Cycle, StateKey } from '../framework/cycle.js';
import { type Plugin, rejection, scoreEach, scoreMax } from '../framework/plugin.js';
import type { NodeInfo } from '../model/node-info.js';
import type { PodInfo } from '../model/pod-info.js';
import { matchingCounter } from './matching-pods.js';
import { pairs, servicesOf } from './owner-selector.js';

export interface ServiceAffinityOptions {
  readonly affinityLabels?: readonly string[];
  readonly antiAffinityLabelsPreference?: readonly string[];
}

/** Existing pods with all labels of the pod, and their nodes; undefined without a service. */
type Siblings = ReadonlyMap<string, NodeInfo>;

const siblingsState = new StateKey<Map<string, NodeInfo> | undefined>(
  'pods of the service',
  (siblings) => siblings && new Map(siblings),
);

export function serviceAffinity(options: ServiceAffinityOptions): Plugin {
  const { affinityLabels = [], antiAffinityLabelsPreference = [] } = options;
  return {
    name: 'ServiceAffinity',
    retryOn: ['node added', 'node changed', 'pod assigned', 'pod removed', 'service changed'],
    preFilter(cycle) {
      siblingsOf(cycle);
      return undefined;
    },
    filter(cycle) {
      if (affinityLabels.length === 0) return undefined;
      const wanted = wantedLabels(cycle.pod, affinityLabels, siblingsOf(cycle));
      const rejected = rejection("node(s) didn't match service affinity");
      return ({ labels }) =>
        wanted.every(([key, value]) => labels[key] === value) ? undefined : rejected;
    },
    movePod(cycle, node, pod, sign) {
      if (!isSibling(cycle.pod, pod)) return;
      if (sign > 0) siblingsOf(cycle)?.set(pod.key, node);
      else siblingsOf(cycle)?.delete(pod.key);
    },
    score: ({ pod, context }, feasible) => {
      const [service] = servicesOf(pod, context.objects);
      // A service that selects the pod has a selector.
      const count = service
        ? matchingCounter(pod.namespace, pairs(service.spec?.selector))
        : () => 0;
      return spread(scoreEach(feasible, count), feasible, antiAffinityLabelsPreference);
    },
  };
}

function siblingsOf(cycle: Cycle): Map<string, NodeInfo> | undefined {
  return cycle.once(siblingsState, () => {
    const { pod, context } = cycle;
    if (servicesOf(pod, context.objects).length === 0) return undefined;
    const siblings = new Map<string, NodeInfo>();
    for (const node of context.cluster.nodes) {
      for (const other of node.pods.values()) {
        if (isSibling(pod, other)) siblings.set(other.key, node);
      }
    }
    return siblings;
  });
}

function isSibling(pod: PodInfo, other: PodInfo): boolean {
  if (other.namespace !== pod.namespace) return false;
  return Object.entries(pod.labels).every(([key, value]) => other.labels[key] === value);
}

/** The node selector of the pod decides; for other labels the node of the first sibling. */
function wantedLabels(
  pod: PodInfo,
  keys: readonly string[],
  siblings: Siblings | undefined,
): [string, string][] {
  const [first] = siblings?.values() ?? [];
  return keys.flatMap((key): [string, string][] => {
    const value = pod.pod.spec?.nodeSelector?.[key] ?? first?.labels[key];
    return value === undefined ? [] : [[key, value]];
  });
}

/** Scores the mean, over the labels, of the share of the service's pods on other values. */
function spread(
  counts: Float64Array,
  feasible: readonly NodeInfo[],
  keys: readonly string[],
): Float64Array {
  const total = counts.reduce((sum, count) => sum + count, 0);
  const result = new Float64Array(counts.length);
  for (const key of keys) {
    const byValue = new Map<string, number>();
    feasible.forEach((node, index) => {
      const value = node.labels[key];
      if (value !== undefined) byValue.set(value, (byValue.get(value) ?? 0) + counts[index]!);
    });
    feasible.forEach((node, index) => {
      const value = node.labels[key];
      if (value === undefined) return;
      const share = total > 0 ? (total - byValue.get(value)!) / total : 1;
      result[index]! += (scoreMax * share) / keys.length;
    });
  }
  return result.map(Math.trunc);
}
