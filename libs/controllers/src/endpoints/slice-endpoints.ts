/** The endpoints behind a service, grouped by address type and ports. Pure. */
import type { Pod, Service } from '@orch/types/core/v1';
import type { AddressType, Endpoint, EndpointPort } from '@orch/types/discovery/v1';
import { isPodReady } from '../common/pods.js';
import { hasServiceAddress, hostnameOf, portNumber, willRunAgain } from './service-pods.js';
import { type EndpointGroup, groupKey } from './slices.js';

/** Returns the zone of a node; undefined if it has none. */
export type ZoneOf = (nodeName: string) => string | undefined;

/** Whether slices list the pod, ready or not. */
export function isListed(service: Service, pod: Pod): boolean {
  const isPublished = service.spec?.publishNotReadyAddresses || !pod.metadata?.deletionTimestamp;
  const hasAddress = Boolean(pod.status?.podIP) || (pod.status?.podIPs ?? []).length > 0;
  return Boolean(isPublished) && hasAddress && willRunAgain(pod);
}

/** The families of the service; both if it is headless and has none. */
export function addressTypesOf(service: Service): AddressType[] {
  const families = service.spec?.ipFamilies ?? [];
  if (families.length > 0) return [...families];
  if (!hasServiceAddress(service)) return ['IPv4', 'IPv6'];
  return [service.spec?.clusterIP?.includes(':') ? 'IPv6' : 'IPv4'];
}

/** @param pods the pods that the slices list */
export function groupsOf(
  service: Service,
  pods: readonly Pod[],
  addressType: AddressType,
  zoneOf: ZoneOf,
): Map<string, EndpointGroup> {
  const groups = new Map<string, EndpointGroup & { endpoints: Endpoint[] }>();
  for (const pod of pods) {
    const endpoint = endpointOf(service, pod, addressType, zoneOf);
    if (!endpoint) continue;
    const ports = portsOf(service, pod);
    const key = groupKey(addressType, ports);
    const group = groups.get(key) ?? { addressType, ports, endpoints: [] };
    group.endpoints.push(endpoint);
    groups.set(key, group);
  }
  return groups;
}

/** Undefined if the pod has no address of this type. */
function endpointOf(
  service: Service,
  pod: Pod,
  addressType: AddressType,
  zoneOf: ZoneOf,
): Endpoint | undefined {
  const { namespace, name, uid, resourceVersion, deletionTimestamp } = pod.metadata ?? {};
  const ips = pod.status?.podIPs?.map(({ ip = '' }) => ip) ?? [pod.status?.podIP ?? ''];
  const addresses = ips.filter((ip) => ip && ip.includes(':') === (addressType === 'IPv6'));
  if (addresses.length === 0) return undefined;
  const isReady = isPodReady(pod) && !deletionTimestamp;
  const hostname = hostnameOf(service, pod);
  const nodeName = pod.spec?.nodeName;
  const zone = nodeName ? zoneOf(nodeName) : undefined;
  return {
    addresses,
    conditions: { ready: Boolean(service.spec?.publishNotReadyAddresses) || isReady },
    ...(hostname ? { hostname } : {}),
    targetRef: { kind: 'Pod', namespace, name, uid, resourceVersion },
    ...(nodeName ? { nodeName } : {}),
    ...(zone ? { zone } : {}),
  };
}

function portsOf(service: Service, pod: Pod): EndpointPort[] {
  return (service.spec?.ports ?? []).flatMap((servicePort) => {
    const port = portNumber(pod, servicePort);
    if (port === undefined) return [];
    const { name = '', protocol = 'TCP', appProtocol } = servicePort;
    return [{ name, port, protocol, ...(appProtocol ? { appProtocol } : {}) }];
  });
}
