/** Resolves the cluster address of a service, where this machine routes cluster addresses. */
import type { Registry } from '@orch/registry';
import type { ServiceResolver } from '@orch/security';
import type { Service } from '@orch/types/core/v1';
import { readObject, ServiceAddressError } from './service-resolver.js';

export function clusterAddressResolver(registry: Registry): ServiceResolver {
  return async ({ namespace, name, port }, timeoutMs) => {
    const service = await readObject<Service>(registry, 'services', namespace, name, timeoutMs);
    if (!service) throw new ServiceAddressError(`service "${name}" not found`);
    const { type, externalName, clusterIP = '', ports = [] } = service.spec ?? {};
    if (type === 'ExternalName') return { host: externalName ?? '', port };
    if (clusterIP === '' || clusterIP === 'None') {
      throw new ServiceAddressError(`cannot route to service with ClusterIP "${clusterIP}"`);
    }
    if (!ports.some((candidate) => candidate.port === port)) {
      throw new ServiceAddressError(`no service port ${port} found for service "${name}"`);
    }
    return { host: clusterIP, port };
  };
}
