/** Small questions about services that many rules ask. */
import type { Service, ServicePort, ServiceSpec } from '@orch/types/core/v1';

export const headless = 'None';

export function specOf(object: Service): ServiceSpec {
  object.spec ??= {};
  return object.spec;
}

export function isHeadless(spec: ServiceSpec): boolean {
  return spec.clusterIP === headless || spec.clusterIPs?.[0] === headless;
}

/** A type that has an address of its own, headless ones included. */
export function needsClusterIp(spec: ServiceSpec): boolean {
  return spec.type === 'ClusterIP' || needsNodePort(spec);
}

export function needsNodePort(spec: ServiceSpec): boolean {
  return spec.type === 'NodePort' || spec.type === 'LoadBalancer';
}

/** A node port is given to what has none. */
export function getsNodePorts(spec: ServiceSpec): boolean {
  return needsNodePort(spec) && spec.allocateLoadBalancerNodePorts !== false;
}

export function needsHealthCheckNodePort(spec: ServiceSpec): boolean {
  return spec.type === 'LoadBalancer' && spec.externalTrafficPolicy === 'Local';
}

export function hasSelector(spec: ServiceSpec): boolean {
  return Object.keys(spec.selector ?? {}).length > 0;
}

export function ports(spec: ServiceSpec): readonly ServicePort[] {
  return spec.ports ?? [];
}

export type IpFamily = 'IPv4' | 'IPv6';

export function familyOf(ip: string): IpFamily {
  return ip.includes(':') ? 'IPv6' : 'IPv4';
}
