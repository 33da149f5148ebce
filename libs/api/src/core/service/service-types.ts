/** Predicates on services that several rules share. */
import type { Service, ServicePort, ServiceSpec } from '@orch/types/core/v1';

export const headless = 'None';

export function specOf(object: Service): ServiceSpec {
  object.spec ??= {};
  return object.spec;
}

export function isHeadless({ clusterIPs }: ServiceSpec): boolean {
  return clusterIPs?.length === 1 && clusterIPs[0] === headless;
}

/** Reports whether the type has a cluster IP, including headless services. */
export function needsClusterIp(spec: ServiceSpec): boolean {
  return spec.type !== 'ExternalName';
}

export function needsNodePort(spec: ServiceSpec): boolean {
  return spec.type === 'NodePort' || spec.type === 'LoadBalancer';
}

/** Reports whether node ports are allocated for ports without one. */
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
