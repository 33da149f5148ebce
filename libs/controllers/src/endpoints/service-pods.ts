/** Which pods are behind a service, and under which ports and names. Pure. */
import { semanticallyEqual } from '@orch/apimachinery';
import { type Lister, objectKey } from '@orch/client';
import { dialect } from '@orch/component';
import type { Pod, Service, ServicePort } from '@orch/types/core/v1';
import { isPodReady } from '../common/pods.js';
import { mapSelectorOf } from '../common/selectors.js';

/** Label of the endpoints and slices of services without an address of their own. */
export const headlessLabel = () => dialect().key('headless', 'service');

/** Annotation with the time of the change that led to the latest write. */
export const triggerTimeKey = () => dialect().key('last-change-trigger-time', 'endpoints');

export function hasServiceAddress({ spec }: Service): boolean {
  return Boolean(spec?.clusterIP) && spec?.clusterIP !== 'None';
}

/** Keys of the services that select the pod. */
export function servicesSelecting(services: Lister<Service>, { metadata }: Pod): string[] {
  const keys: string[] = [];
  for (const service of services.list(metadata?.namespace ?? '')) {
    if (mapSelectorOf(service).matches(metadata?.labels)) keys.push(objectKey(service));
  }
  return keys;
}

/** The pods that the service selects. */
export function podsOf(service: Service, pods: Lister<Pod>): Pod[] {
  const selector = mapSelectorOf(service);
  return pods
    .list(service.metadata?.namespace ?? '')
    .filter((pod) => selector.matches(pod.metadata?.labels));
}

/** Whether the restart policy permits the pod to run, now or later. */
export function willRunAgain(pod: Pod): boolean {
  const phase = pod.status?.phase;
  if (pod.spec?.restartPolicy === 'Never') return phase !== 'Failed' && phase !== 'Succeeded';
  return pod.spec?.restartPolicy !== 'OnFailure' || phase !== 'Succeeded';
}

/** The host name under which the service publishes the pod; undefined if it has none. */
export function hostnameOf(service: Service, pod: Pod): string | undefined {
  const isPublished =
    pod.spec?.subdomain === service.metadata?.name &&
    pod.metadata?.namespace === service.metadata?.namespace;
  return isPublished ? pod.spec?.hostname || undefined : undefined;
}

/** The port of the pod behind a service port; undefined if the pod has none of that name. */
export function portNumber(pod: Pod, servicePort: ServicePort): number | undefined {
  const target = servicePort.targetPort;
  if (target === undefined || target === 0 || target === '') return servicePort.port;
  if (typeof target === 'number') return target;
  const protocol = servicePort.protocol ?? 'TCP';
  for (const container of pod.spec?.containers ?? []) {
    for (const port of container.ports ?? []) {
      if (port.name === target && (port.protocol ?? 'TCP') === protocol) return port.containerPort;
    }
  }
  return undefined;
}

/** Whether the change of a pod can change the endpoints of a service. */
export function affectsEndpoints(pod: Pod, old: Pod): boolean {
  return (
    pod === old ||
    pod.status?.phase !== old.status?.phase ||
    Boolean(pod.metadata?.deletionTimestamp) !== Boolean(old.metadata?.deletionTimestamp) ||
    pod.spec?.nodeName !== old.spec?.nodeName ||
    pod.status?.podIP !== old.status?.podIP ||
    isPodReady(pod) !== isPodReady(old) ||
    !semanticallyEqual(pod.status?.podIPs, old.status?.podIPs) ||
    !semanticallyEqual(pod.metadata?.labels, old.metadata?.labels)
  );
}
