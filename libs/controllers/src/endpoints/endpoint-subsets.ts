/**
 * The addresses behind a service: one entry for each pod and port, put together into the fewest
 * subsets (addresses that have the same ports in the same state share one), in a stable order.
 * Pure.
 */
import { dialect } from '@orch/component';
import type {
  EndpointAddress,
  EndpointPort,
  EndpointSubset,
  Pod,
  Service,
  ServicePort,
} from '@orch/types/core/v1';
import { isPodReady } from '../common/pods.js';
import { hostnameOf, portNumber, willRunAgain } from './service-pods.js';

interface Entry {
  readonly address: EndpointAddress;
  readonly port: EndpointPort | undefined;
  readonly isReady: boolean;
}

export function subsetsOf(service: Service, pods: readonly Pod[]): EndpointSubset[] {
  return pack(pods.flatMap((pod) => entriesOf(service, pod)));
}

function entriesOf(service: Service, pod: Pod): Entry[] {
  const publishAll = publishesNotReady(service);
  if (!pod.status?.podIP || (pod.metadata?.deletionTimestamp && !publishAll)) return [];
  const isReady = publishAll || isPodReady(pod);
  if (!isReady && !willRunAgain(pod)) return [];
  const address = addressOf(service, pod);
  const servicePorts = service.spec?.ports ?? [];
  if (servicePorts.length === 0) {
    // Only a service without an address of its own makes sense without ports.
    return service.spec?.clusterIP === 'None' ? [{ address, port: undefined, isReady }] : [];
  }
  return servicePorts.flatMap((servicePort) => {
    const number = portNumber(pod, servicePort);
    return number === undefined ? [] : [{ address, port: portOf(servicePort, number), isReady }];
  });
}

/** The value of the field, or of the older annotation, which has precedence. */
function publishesNotReady(service: Service): boolean {
  const key = dialect().key('tolerate-unready-endpoints', 'service.alpha');
  const annotation = service.metadata?.annotations?.[key];
  return annotation === undefined
    ? Boolean(service.spec?.publishNotReadyAddresses)
    : annotation === 'true';
}

function addressOf(service: Service, pod: Pod): EndpointAddress {
  const { namespace, name, uid, resourceVersion } = pod.metadata ?? {};
  const hostname = hostnameOf(service, pod);
  return {
    ip: ipOf(service, pod),
    ...(hostname ? { hostname } : {}),
    ...(pod.spec?.nodeName ? { nodeName: pod.spec.nodeName } : {}),
    targetRef: { kind: 'Pod', namespace, name, uid, resourceVersion },
  };
}

/** The pod's address of the service's family; its first when it has no other. */
function ipOf(service: Service, pod: Pod): string {
  const family = service.spec?.ipFamilies?.[0];
  const isWanted = (ip: string) => (family === 'IPv6') === ip.includes(':');
  const ips = (pod.status?.podIPs ?? []).map((one) => one.ip ?? '');
  return (family && ips.find(isWanted)) || (pod.status?.podIP ?? '');
}

function portOf(servicePort: ServicePort, port: number): EndpointPort {
  const { name, protocol = 'TCP', appProtocol } = servicePort;
  return {
    ...(name ? { name } : {}),
    port,
    protocol,
    ...(appProtocol ? { appProtocol } : {}),
  };
}

interface Target {
  readonly address: EndpointAddress;
  isReady: boolean;
  readonly ports: Map<string, EndpointPort | undefined>;
}

function pack(entries: readonly Entry[]): EndpointSubset[] {
  const targets = new Map<string, Target>();
  for (const { address, port, isReady } of entries) {
    const key = `${address.ip}|${address.targetRef?.uid ?? ''}|${isReady}`;
    const target = targets.get(key) ?? { address, isReady, ports: new Map() };
    target.ports.set(portKey(port), port);
    targets.set(key, target);
  }
  const groups = new Map<string, Target[]>();
  for (const target of targets.values()) {
    const key = [...target.ports.keys()].sort().join(',');
    groups.set(key, [...(groups.get(key) ?? []), target]);
  }
  return [...groups].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, members]) => subsetOf(members));
}

function subsetOf(members: readonly Target[]): EndpointSubset {
  const addresses = (isReady: boolean) =>
    members
      .filter((one) => one.isReady === isReady)
      .map((one) => one.address)
      .sort((a, b) => compare(addressKey(a), addressKey(b)));
  const ready = addresses(true);
  const notReady = addresses(false);
  const ports = [...(members[0]?.ports.entries() ?? [])]
    .sort(([a], [b]) => compare(a, b))
    .flatMap(([, port]) => (port ? [port] : []));
  return {
    ...(ready.length > 0 ? { addresses: ready } : {}),
    ...(notReady.length > 0 ? { notReadyAddresses: notReady } : {}),
    ...(ports.length > 0 ? { ports } : {}),
  };
}

function portKey(port: EndpointPort | undefined): string {
  return port ? [port.name ?? '', port.protocol, port.port, port.appProtocol ?? ''].join('/') : '';
}

function addressKey(address: EndpointAddress): string {
  return `${address.ip}|${address.targetRef?.uid ?? ''}`;
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
