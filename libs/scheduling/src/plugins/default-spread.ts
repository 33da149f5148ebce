/**
 * Default spreading: pods of one service or one controller are kept apart without asking for it. The
 * selectors of everything that selects the pod are joined: services by their selector, the controller
 * by its own.
 */
import type { ReplicaSet, StatefulSet } from '@orch/types/apps/v1';
import type { ReplicationController, Service } from '@orch/types/core/v1';
import type { PodInfo, SpreadConstraint } from '../model/pod-info.js';
import { type LabelPredicate, type Labels, labelPredicate } from '../model/selectors.js';
import { defaultSpreadConstraints } from './topology-spread.js';

/** Where selectors come from; all look-ups are in memory. */
export interface SpreadSources {
  readonly services: (namespace: string) => readonly Service[];
  readonly replicaSet: (key: string) => ReplicaSet | undefined;
  readonly statefulSet: (key: string) => StatefulSet | undefined;
  readonly replicationController: (key: string) => ReplicationController | undefined;
}

export function defaultSpread(
  sources: SpreadSources,
): (pod: PodInfo) => readonly SpreadConstraint[] {
  return (pod) => {
    const predicates = [
      ...servicePredicates(pod, sources.services(pod.namespace)),
      ...controllerPredicates(pod, sources),
    ];
    if (predicates.length === 0) return [];
    return defaultSpreadConstraints((labels) => predicates.every((matches) => matches(labels)));
  };
}

function servicePredicates(pod: PodInfo, services: readonly Service[]): LabelPredicate[] {
  return services
    .map((service) => service.spec?.selector ?? {})
    .filter((selector) => Object.keys(selector).length > 0)
    .map((selector) => labelPredicate({ matchLabels: selector }))
    .filter((matches) => matches(pod.labels));
}

function controllerPredicates(pod: PodInfo, sources: SpreadSources): LabelPredicate[] {
  const owner = pod.pod.metadata?.ownerReferences?.find((reference) => reference.controller);
  if (!owner) return [];
  const key = `${pod.namespace}/${owner.name}`;
  switch (owner.kind) {
    case 'ReplicationController':
      return pairs(sources.replicationController(key)?.spec?.selector);
    case 'ReplicaSet':
      return selector(sources.replicaSet(key)?.spec?.selector);
    case 'StatefulSet':
      return selector(sources.statefulSet(key)?.spec?.selector);
    default:
      return [];
  }
}

function pairs(labels: Labels | undefined): LabelPredicate[] {
  return labels && Object.keys(labels).length > 0 ? [labelPredicate({ matchLabels: labels })] : [];
}

function selector(labelSelector: Parameters<typeof labelPredicate>[0]): LabelPredicate[] {
  return labelSelector ? [labelPredicate(labelSelector)] : [];
}
