/**
 * The objects a cluster cannot do without: system namespaces and priority classes, and the API's own
 * service. Made where they are missing; what an operator has changed stays. Namespaces, service and what
 * others check clients with are made again when they are deleted, priority classes at the next start. The
 * endpoints of the service are left to `ServerEndpoints`.
 */
import { apiService, bootstrapNamespaces, bootstrapPriorityClasses } from '@orch/api';
import { dialect, type Logger } from '@orch/component';
import { upkeepTimeoutMs } from '../limits.js';
import type { RegistryParts, WriteContext } from '../registry/registry-parts.js';
import {
  authenticationConfigMap,
  keepAuthenticationConfigMap,
} from './authentication-config-map.js';
import { ensureObject, servedKind, systemContext } from './ensure-object.js';
import { Upkeep } from './upkeep.js';

export interface BootstrapSettings {
  /** The first service range. */
  readonly serviceClusterIpRange: string;
  readonly securePort: number;
  /** PEM authorities of client certificates, for servers that stand behind this one. */
  readonly clientAuthoritiesPem: string | undefined;
}

/** Rejects with StoreError or StatusError when the store takes no writes: try again later. */
export async function bootstrapPriorities(parts: RegistryParts): Promise<void> {
  const context = systemContext(parts, upkeepTimeoutMs);
  await Promise.all(
    bootstrapPriorityClasses().map((priorityClass) =>
      ensureObject(parts, context, 'priorityclasses', '', priorityClass, 'scheduling'),
    ),
  );
}

export function systemObjectsUpkeep(
  parts: RegistryParts,
  settings: BootstrapSettings,
  logger: Logger,
): Upkeep {
  const { word, systemNamespace } = dialect();
  const prefixes = [
    servedKind(parts, 'namespaces').resource.keyPrefix,
    servedKind(parts, 'services').resource.key('default', word),
    servedKind(parts, 'configmaps').resource.key(systemNamespace, authenticationConfigMap),
  ];
  const round = async () => {
    await keepSystemObjects(parts, settings);
    return undefined;
  };
  return new Upkeep(parts, { name: 'system objects', prefixes, round }, logger);
}

async function keepSystemObjects(
  parts: RegistryParts,
  { serviceClusterIpRange, securePort, clientAuthoritiesPem }: BootstrapSettings,
): Promise<void> {
  const context: WriteContext = systemContext(parts, upkeepTimeoutMs);
  await Promise.all(
    bootstrapNamespaces().map((namespace) =>
      ensureObject(parts, context, 'namespaces', '', namespace),
    ),
  );
  const service = apiService(serviceClusterIpRange, securePort);
  await Promise.all([
    ensureObject(parts, context, 'services', 'default', service),
    keepAuthenticationConfigMap(parts, context, clientAuthoritiesPem),
  ]);
}
