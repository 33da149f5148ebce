/**
 * The objects a cluster cannot do without: system namespaces and priority classes, and the API's own
 * service. Made where they are missing; what an operator has changed stays. Its endpoints are left to
 * `ServerEndpoints`.
 */
import { apiService, bootstrapNamespaces, bootstrapPriorityClasses } from '@orch/api';
import type { RegistryParts } from '../registry/registry-parts.js';
import { ensureObject, systemContext } from './ensure-object.js';

export interface BootstrapSettings {
  /** The first service range. */
  readonly serviceClusterIpRange: string;
  readonly securePort: number;
}

const bootstrapTimeoutMs = 30_000;

/** Rejects with StoreError or StatusError when the store takes no writes: try again later. */
export async function bootstrapCluster(
  parts: RegistryParts,
  { serviceClusterIpRange, securePort }: BootstrapSettings,
): Promise<void> {
  const context = systemContext(parts, bootstrapTimeoutMs);
  for (const namespace of bootstrapNamespaces()) {
    await ensureObject(parts, context, 'namespaces', '', namespace);
  }
  for (const priorityClass of bootstrapPriorityClasses()) {
    await ensureObject(parts, context, 'priorityclasses', '', priorityClass, 'scheduling');
  }
  const service = apiService(serviceClusterIpRange, securePort);
  await ensureObject(parts, context, 'services', 'default', service);
}
