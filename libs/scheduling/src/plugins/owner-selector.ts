/**
 * The pods that belong together with a pod although it does not say so: those of the same services
 * and of the same controller.
 */
import { controllerOf } from '@orch/apimachinery';
import type { Service } from '@orch/types/core/v1';
import type { ClusterObjects } from '../model/cluster-objects.js';
import type { PodInfo } from '../model/pod-info.js';
import { type Labels, type PodSelector, podSelector } from '../model/selectors.js';

/** Returns the selector of such pods; undefined if there is neither service nor controller. */
export function ownerSelector(pod: PodInfo, objects: ClusterObjects): PodSelector | undefined {
  const selectors = [
    ...servicesOf(pod, objects).map((service) => pairs(service.spec?.selector)),
    ...controllerSelectors(pod, objects),
  ];
  if (selectors.length === 0) return undefined;
  return {
    key: selectors.map(({ key }) => key).join('\n'),
    matches: (labels) => selectors.every(({ matches }) => matches(labels)),
  };
}

/** Returns the services that select the pod. */
export function servicesOf(pod: PodInfo, objects: ClusterObjects): Service[] {
  return objects.services(pod.namespace).filter((service) => {
    const selector = service.spec?.selector ?? {};
    return Object.keys(selector).length > 0 && pairs(selector).matches(pod.labels);
  });
}

function controllerSelectors(pod: PodInfo, objects: ClusterObjects): PodSelector[] {
  const owner = controllerOf(pod.pod);
  if (!owner) return [];
  const key = `${pod.namespace}/${owner.name}`;
  switch (owner.kind) {
    case 'ReplicationController': {
      const labels = objects.replicationController(key)?.spec?.selector ?? {};
      return Object.keys(labels).length > 0 ? [pairs(labels)] : [];
    }
    case 'ReplicaSet':
      return selector(objects.replicaSet(key)?.spec?.selector);
    case 'StatefulSet':
      return selector(objects.statefulSet(key)?.spec?.selector);
    default:
      return [];
  }
}

/** Selects the labels with all these values. */
export function pairs(wanted: Labels = {}): PodSelector {
  const entries = Object.entries(wanted);
  return {
    key: JSON.stringify(entries),
    matches: (labels) => entries.every(([key, value]) => labels[key] === value),
  };
}

function selector(labelSelector: Parameters<typeof podSelector>[0]): PodSelector[] {
  return labelSelector ? [podSelector(labelSelector)] : [];
}
