/**
 * A pod as scheduling decisions see it: requests summed, selectors compiled, defaults filled in.
 * Made once per pod object; nothing in it changes.
 */
import type {
  Affinity,
  Pod,
  PodAffinityTerm,
  Toleration,
  WeightedPodAffinityTerm,
} from '@orch/types/core/v1';
import { podRequests, podRequestsForScoring, type Resources } from './resources.js';
import {
  type LabelPredicate,
  type Labels,
  labelPredicate,
  type NodePredicate,
  nodeLabelsPredicate,
  nodeSelectorPredicate,
  nodeTermPredicate,
} from './selectors.js';

export interface HostPort {
  /** `0.0.0.0` is every address. */
  readonly ip: string;
  readonly protocol: string;
  readonly port: number;
}

/** A pod affinity term: which pods it means and the topology it speaks of. */
export interface AffinityTerm {
  readonly topologyKey: string;
  readonly weight: number;
  /** Is `pod` one of those meant? */
  readonly selects: (pod: PodInfo, namespaceLabels: NamespaceLabels) => boolean;
}

/** Labels of a namespace; undefined when it is not known. */
export type NamespaceLabels = (namespace: string) => Labels | undefined;

export interface SpreadConstraint {
  readonly maxSkew: number;
  readonly topologyKey: string;
  readonly whenUnsatisfiable: 'DoNotSchedule' | 'ScheduleAnyway';
  readonly matches: LabelPredicate;
}

export interface PodInfo {
  readonly pod: Pod;
  readonly key: string;
  readonly uid: string;
  readonly namespace: string;
  readonly name: string;
  readonly labels: Labels;
  readonly priority: number;
  readonly terminating: boolean;
  readonly requests: Resources;
  /** No resource at all is asked for: only the pod count matters. */
  readonly requestsNothing: boolean;
  readonly scoringRequests: { readonly milliCpu: number; readonly memoryBytes: number };
  readonly hostPorts: readonly HostPort[];
  readonly tolerations: readonly Toleration[];
  /** Node selector and required node affinity in one; undefined matches every node. */
  readonly requiredNodes?: NodePredicate;
  readonly preferredNodes: readonly { readonly weight: number; readonly matches: NodePredicate }[];
  readonly requiredAffinity: readonly AffinityTerm[];
  readonly requiredAntiAffinity: readonly AffinityTerm[];
  readonly preferredAffinity: readonly AffinityTerm[];
  readonly preferredAntiAffinity: readonly AffinityTerm[];
  readonly hasAffinity: boolean;
  readonly spread: readonly SpreadConstraint[];
  readonly images: readonly string[];
}

/** `namespace/name`. */
export function podKey(pod: Pod): string {
  return `${pod.metadata?.namespace ?? ''}/${pod.metadata?.name ?? ''}`;
}

export function podInfo(pod: Pod): PodInfo {
  const spec = pod.spec;
  const namespace = pod.metadata?.namespace ?? '';
  const requests = podRequests(pod);
  const pods = podTerms(spec?.affinity, namespace);
  return {
    pod,
    key: podKey(pod),
    uid: pod.metadata?.uid ?? '',
    namespace,
    name: pod.metadata?.name ?? '',
    labels: pod.metadata?.labels ?? {},
    priority: spec?.priority ?? 0,
    terminating: pod.metadata?.deletionTimestamp !== undefined,
    requests,
    requestsNothing:
      requests.milliCpu === 0 &&
      requests.memoryBytes === 0 &&
      requests.ephemeralStorageBytes === 0 &&
      !requests.others,
    scoringRequests: podRequestsForScoring(pod),
    hostPorts: hostPortsOf(pod),
    tolerations: spec?.tolerations ?? [],
    requiredNodes: requiredNodes(pod),
    preferredNodes: (
      spec?.affinity?.nodeAffinity?.preferredDuringSchedulingIgnoredDuringExecution ?? []
    )
      .filter((term) => term.weight !== 0)
      .map((term) => ({ weight: term.weight, matches: nodeTermPredicate(term.preference) })),
    ...pods,
    hasAffinity: Object.values(pods).some((terms) => terms.length > 0),
    spread: (spec?.topologySpreadConstraints ?? []).map((constraint) => ({
      maxSkew: constraint.maxSkew,
      topologyKey: constraint.topologyKey,
      whenUnsatisfiable:
        constraint.whenUnsatisfiable === 'ScheduleAnyway' ? 'ScheduleAnyway' : 'DoNotSchedule',
      matches: labelPredicate(constraint.labelSelector),
    })),
    images: (spec?.containers ?? []).map((container) => container.image ?? ''),
  };
}

function hostPortsOf(pod: Pod): HostPort[] {
  return (pod.spec?.containers ?? []).flatMap((container) =>
    (container.ports ?? [])
      .filter((port) => (port.hostPort ?? 0) > 0)
      .map((port) => ({
        ip: port.hostIP || '0.0.0.0',
        protocol: port.protocol || 'TCP',
        port: port.hostPort ?? 0,
      })),
  );
}

function requiredNodes(pod: Pod): NodePredicate | undefined {
  const pairs = pod.spec?.nodeSelector;
  const selector = pod.spec?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  const predicates = [
    ...(pairs && Object.keys(pairs).length > 0 ? [nodeLabelsPredicate(pairs)] : []),
    ...(selector ? [nodeSelectorPredicate(selector)] : []),
  ];
  if (predicates.length === 0) return undefined;
  return (node) => predicates.every((matches) => matches(node));
}

function podTerms(affinity: Affinity | undefined, namespace: string) {
  const required = (terms: readonly PodAffinityTerm[] | undefined) =>
    (terms ?? []).map((term) => affinityTerm(term, 0, namespace));
  const preferred = (terms: readonly WeightedPodAffinityTerm[] | undefined) =>
    (terms ?? []).map((term) => affinityTerm(term.podAffinityTerm, term.weight, namespace));
  const { podAffinity, podAntiAffinity } = affinity ?? {};
  return {
    requiredAffinity: required(podAffinity?.requiredDuringSchedulingIgnoredDuringExecution),
    requiredAntiAffinity: required(podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution),
    preferredAffinity: preferred(podAffinity?.preferredDuringSchedulingIgnoredDuringExecution),
    preferredAntiAffinity: preferred(
      podAntiAffinity?.preferredDuringSchedulingIgnoredDuringExecution,
    ),
  };
}

/** Without namespaces and namespace selector a term means the namespace of the pod that has it. */
function affinityTerm(term: PodAffinityTerm, weight: number, ownNamespace: string): AffinityTerm {
  const matchesLabels = labelPredicate(term.labelSelector);
  const namespaces = new Set(term.namespaces ?? []);
  const byLabels = term.namespaceSelector ? labelPredicate(term.namespaceSelector) : undefined;
  if (namespaces.size === 0 && !byLabels) namespaces.add(ownNamespace);
  return {
    topologyKey: term.topologyKey,
    weight,
    selects(pod, namespaceLabels) {
      const inNamespace =
        namespaces.has(pod.namespace) || byLabels?.(namespaceLabels(pod.namespace) ?? {}) === true;
      return inNamespace && matchesLabels(pod.labels);
    },
  };
}
