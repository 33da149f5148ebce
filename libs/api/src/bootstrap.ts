/** Objects that a fresh cluster has: its namespaces, and the API server's own service with its endpoints. */
import { dialect } from '@orch/component';
import type { EndpointSubset, Endpoints, Namespace, Service } from '@orch/types/core/v1';
import { addressAt } from './core/address-range.js';

export { systemPriorityClasses as bootstrapPriorityClasses } from './scheduling/system-classes.js';

/** Made at start when they are missing; `default` first. */
export function bootstrapNamespaces(): Namespace[] {
  const { systemNamespace, publicNamespace, nodeLeaseNamespace } = dialect();
  return ['default', systemNamespace, publicNamespace, nodeLeaseNamespace].map((name) => ({
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name },
  }));
}

/** How the API is reached from inside: the first address of the service range. */
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

/** Where one API server is reached. */
export interface ServerAddress {
  readonly ip: string;
  readonly port: number;
}

/** The servers behind that address. They are kept by the servers themselves, so nothing may mirror them. */
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

/** One subset for each port, since a subset means all its addresses at all its ports. */
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
