/** Objects that a fresh cluster has: its namespaces, and the API server's own service with its endpoints. */
import { dialect } from '@orch/component';
import type { Endpoints, Namespace, Service } from '@orch/types/core/v1';
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

/** The servers behind that address. They are kept by the servers themselves, so nothing may mirror them. */
export function apiEndpoints(addresses: readonly string[], securePort: number): Endpoints {
  return {
    apiVersion: 'v1',
    kind: 'Endpoints',
    metadata: {
      name: dialect().word,
      namespace: 'default',
      labels: { [dialect().key('skip-mirror', 'endpointslice')]: 'true' },
    },
    subsets: [
      {
        addresses: [...addresses].sort().map((ip) => ({ ip })),
        ports: [{ name: 'https', port: securePort, protocol: 'TCP' }],
      },
    ],
  };
}
