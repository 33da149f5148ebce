/**
 * A pod for scheduling decisions: requests summed, selectors compiled, defaults applied. Created
 * once per pod object and immutable.
 */
import {
  type NodePredicate,
  nodeTermPredicate,
  parseTime,
  requiredNodesPredicate,
} from '@orch/apimachinery';
import type {
  Affinity,
  Pod,
  PodAffinityTerm,
  Toleration,
  Volume,
  WeightedPodAffinityTerm,
} from '@orch/types/core/v1';
import { podRequests, type Resources } from './resources.js';
import { type Labels, labelPredicate, type PodSelector, podSelector } from './selectors.js';

export interface HostPort {
  /** `0.0.0.0` is every address. */
  readonly ip: string;
  readonly protocol: string;
  readonly port: number;
}

/** A pod affinity term: a topology key and the pods that it selects. */
export interface AffinityTerm {
  readonly topologyKey: string;
  readonly weight: number;
  /**
   * Terms with the same key select the same pods. Undefined if that depends on the labels of
   * namespaces.
   */
  readonly key: string | undefined;
  /** Whether the term selects `pod`. */
  readonly selects: (pod: PodInfo, namespaceLabels: NamespaceLabels) => boolean;
}

/** Returns the labels of a namespace; undefined if it does not exist. */
export type NamespaceLabels = (namespace: string) => Labels | undefined;

export interface SpreadConstraint {
  readonly maxSkew: number;
  readonly topologyKey: string;
  readonly whenUnsatisfiable: 'DoNotSchedule' | 'ScheduleAnyway';
  readonly selector: PodSelector;
}

export interface PodInfo {
  readonly pod: Pod;
  readonly key: string;
  readonly uid: string;
  readonly namespace: string;
  readonly name: string;
  readonly labels: Labels;
  /** Selects the profile. */
  readonly schedulerName: string;
  readonly priority: number;
  readonly terminating: boolean;
  /** When the node agent started the pod; undefined if it has not. */
  readonly startMs: number | undefined;
  /** The node that a preemption makes room on for this pod. */
  readonly nominatedNode: string | undefined;
  readonly requests: Resources;
  /** Whether the pod requests no resources, so that only the pod count matters. */
  readonly requestsNothing: boolean;
  readonly scoringRequests: { readonly milliCpu: number; readonly memoryBytes: number };
  readonly hostPorts: readonly HostPort[];
  readonly tolerations: readonly Toleration[];
  /** Node selector and required node affinity combined; undefined matches every node. */
  readonly requiredNodes?: NodePredicate;
  readonly preferredNodes: readonly { readonly weight: number; readonly matches: NodePredicate }[];
  readonly requiredAffinity: readonly AffinityTerm[];
  readonly requiredAntiAffinity: readonly AffinityTerm[];
  readonly preferredAffinity: readonly AffinityTerm[];
  readonly preferredAntiAffinity: readonly AffinityTerm[];
  readonly hasAffinity: boolean;
  readonly spread: readonly SpreadConstraint[];
  readonly volumes: readonly Volume[];
  readonly images: readonly string[];
}

/** Returns `namespace/name`. */
export function podKey(pod: Pod): string {
  return `${pod.metadata?.namespace ?? ''}/${pod.metadata?.name ?? ''}`;
}

export function podInfo(pod: Pod): PodInfo {
  const spec = pod.spec;
  const namespace = pod.metadata?.namespace ?? '';
  const { requests, scoringRequests } = podRequests(pod);
  const pods = podTerms(spec?.affinity, namespace);
  return {
    pod,
    key: podKey(pod),
    uid: pod.metadata?.uid ?? '',
    namespace,
    name: pod.metadata?.name ?? '',
    labels: pod.metadata?.labels ?? {},
    schedulerName: spec?.schedulerName || 'default-scheduler',
    priority: spec?.priority ?? 0,
    terminating: pod.metadata?.deletionTimestamp !== undefined,
    startMs: parseTime(pod.status?.startTime),
    nominatedNode: pod.status?.nominatedNodeName || undefined,
    requests,
    requestsNothing:
      requests.milliCpu === 0 &&
      requests.memoryBytes === 0 &&
      requests.ephemeralStorageBytes === 0 &&
      !requests.others,
    scoringRequests,
    hostPorts: hostPortsOf(pod),
    tolerations: spec?.tolerations ?? [],
    requiredNodes: requiredNodesPredicate(spec),
    preferredNodes: (
      spec?.affinity?.nodeAffinity?.preferredDuringSchedulingIgnoredDuringExecution ?? []
    )
      .filter((term) => term.weight !== 0)
      .map((term) => ({ weight: term.weight, matches: nodeTermPredicate(term.preference) })),
    ...pods,
    hasAffinity:
      pods !== noTerms && Object.values(pods).some((terms: readonly unknown[]) => terms.length > 0),
    spread: (spec?.topologySpreadConstraints ?? []).map((constraint) => ({
      maxSkew: constraint.maxSkew,
      topologyKey: constraint.topologyKey,
      whenUnsatisfiable:
        constraint.whenUnsatisfiable === 'ScheduleAnyway' ? 'ScheduleAnyway' : 'DoNotSchedule',
      selector: podSelector(constraint.labelSelector),
    })),
    volumes: spec?.volumes ?? [],
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

/** The pod affinity terms of a pod. */
type PodTerms = Pick<
  PodInfo,
  'requiredAffinity' | 'requiredAntiAffinity' | 'preferredAffinity' | 'preferredAntiAffinity'
>;

const noTerms: PodTerms = {
  requiredAffinity: [],
  requiredAntiAffinity: [],
  preferredAffinity: [],
  preferredAntiAffinity: [],
};

function podTerms(affinity: Affinity | undefined, namespace: string): PodTerms {
  if (!affinity) return noTerms;
  const required = (terms: readonly PodAffinityTerm[] | undefined) =>
    (terms ?? []).map((term) => affinityTerm(term, 0, namespace));
  const preferred = (terms: readonly WeightedPodAffinityTerm[] | undefined) =>
    (terms ?? []).map((term) => affinityTerm(term.podAffinityTerm, term.weight, namespace));
  const { podAffinity, podAntiAffinity } = affinity;
  return {
    requiredAffinity: required(podAffinity?.requiredDuringSchedulingIgnoredDuringExecution),
    requiredAntiAffinity: required(podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution),
    preferredAffinity: preferred(podAffinity?.preferredDuringSchedulingIgnoredDuringExecution),
    preferredAntiAffinity: preferred(
      podAntiAffinity?.preferredDuringSchedulingIgnoredDuringExecution,
    ),
  };
}

/**
 * Compiles a term. Without namespaces and namespace selector it applies to the namespace of its
 * pod.
 */
function affinityTerm(term: PodAffinityTerm, weight: number, ownNamespace: string): AffinityTerm {
  const matchesLabels = labelPredicate(term.labelSelector);
  const namespaces = new Set(term.namespaces ?? []);
  const byLabels = term.namespaceSelector ? labelPredicate(term.namespaceSelector) : undefined;
  if (namespaces.size === 0 && !byLabels) namespaces.add(ownNamespace);
  return {
    topologyKey: term.topologyKey,
    weight,
    key: byLabels ? undefined : JSON.stringify([[...namespaces].sort(), term.labelSelector]),
    selects(pod, namespaceLabels) {
      const inNamespace =
        namespaces.has(pod.namespace) || byLabels?.(namespaceLabels(pod.namespace) ?? {}) === true;
      return inNamespace && matchesLabels(pod.labels);
    },
  };
}
