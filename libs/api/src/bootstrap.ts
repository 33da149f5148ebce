/**
 * Initial objects of a cluster: its namespaces, and the API server's own service with its
 * endpoints.
 */
import { isIPv6 } from 'node:net';
import { dialect } from '@orch/component';
import type { EndpointSubset, Endpoints, Namespace, Service } from '@orch/types/core/v1';
import type { EndpointSlice } from '@orch/types/discovery/v1beta1';
import { addressAt } from './core/service/address-range.js';

export { systemPriorityClasses as bootstrapPriorityClasses } from './scheduling/system-classes.js';

/** Created at start if they are missing; `default` first. */
export function bootstrapNamespaces(): Namespace[] {
  const { systemNamespace, publicNamespace, nodeLeaseNamespace } = dialect();
  return ['default', systemNamespace, publicNamespace, nodeLeaseNamespace].map((name) => ({
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name },
  }));
}

/** The service through which pods reach the API: the first address of the service range. */
export function apiService(serviceClusterIpRange: string, securePort: number): Service {
  const { word } = dialect();
  const clusterIP = addressAt(serviceClusterIpRange, 1);
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: {
      name: word,
      namespace: 'default',
      labels: { component: 'apiserver', provider: word },
    },
    spec: {
      ports: [{ name: 'https', protocol: 'TCP', port: 443, targetPort: securePort }],
      clusterIP,
      clusterIPs: [clusterIP],
      type: 'ClusterIP',
      sessionAffinity: 'None',
    },
  };
}

/** The address of one API server. */
export interface ServerAddress {
  readonly ip: string;
  readonly port: number;
}

/** The endpoints of that service. The servers maintain them, so mirroring is disabled. */
export function apiEndpoints(servers: readonly ServerAddress[]): Endpoints {
  return {
    apiVersion: 'v1',
    kind: 'Endpoints',
    metadata: {
      name: dialect().word,
      namespace: 'default',
      labels: { [dialect().key('skip-mirror', 'endpointslice')]: 'true' },
    },
    subsets: subsetsOf(servers),
  };
}

/** The same as a slice, which can hold one set of ports only: the servers of the first subset. */
export function apiEndpointSlice({ subsets = [] }: Endpoints): EndpointSlice {
  const { addresses = [], ports = [] } = subsets[0] ?? {};
  return {
    apiVersion: dialect().apiVersion('discovery', 'v1beta1'),
    kind: 'EndpointSlice',
    metadata: {
      name: dialect().word,
      namespace: 'default',
      labels: { [dialect().key('service-name')]: dialect().word },
    },
    addressType: isIPv6(addresses[0]?.ip ?? '') ? 'IPv6' : 'IPv4',
    endpoints: addresses.map(({ ip }) => ({ addresses: [ip], conditions: { ready: true } })),
    ports: ports.map(({ name, protocol, port }) => ({ name, protocol, port })),
  };
}

/** One subset per port, because every address of a subset serves every port of it. */
function subsetsOf(servers: readonly ServerAddress[]): EndpointSubset[] {
  const ports = [...new Set(servers.map(({ port }) => port))].sort((left, right) => left - right);
  return ports.map((port) => ({
    addresses: servers
      .filter((server) => server.port === port)
      .map(({ ip }) => ip)
      .sort()
      .map((ip) => ({ ip })),
    ports: [{ name: 'https', port, protocol: 'TCP' }],
  }));
}
