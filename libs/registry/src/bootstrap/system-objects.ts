/**
 * The objects that every cluster needs: system namespaces and priority classes, the service of the
 * API and the config map with the client authorities. Missing ones are created, what an operator
 * has changed stays. Priority classes are created again only at the next start. The endpoints of
 * the service belong to `ServerEndpoints`.
 */
import { apiService, bootstrapNamespaces, bootstrapPriorityClasses } from '@orch/api';
import { authenticationConfigMap, dialect, type Logger } from '@orch/component';
import { Reconciler } from '../reconciling/reconciler.js';
import { SystemObjectsWriter } from '../reconciling/system-objects-writer.js';
import type { Registry } from '../store/registry.js';
import {
  type PublishedAuthentication,
  reconcileAuthenticationConfigMap,
} from './authentication-config-map.js';

export interface SystemObjectsOptions {
  /** The first service range. */
  readonly serviceClusterIpRange: string;
  readonly securePort: number;
  /** For servers behind this one. */
  readonly publishedAuthentication: PublishedAuthentication;
}

const namespaces = { plural: 'namespaces', groupHead: 'core' };
const services = { plural: 'services', groupHead: 'core' };
const configMaps = { plural: 'configmaps', groupHead: 'core' };
const priorityClasses = { plural: 'priorityclasses', groupHead: 'scheduling' };

/** Rejects with StoreError or StatusError while the store takes no writes: retry later. */
export async function bootstrapPriorities(registry: Registry): Promise<void> {
  const writer = new SystemObjectsWriter(registry);
  await Promise.all(
    bootstrapPriorityClasses().map((object) => writer.ensure(priorityClasses, object)),
  );
}

export function systemObjectsReconciler(
  registry: Registry,
  options: SystemObjectsOptions,
  logger: Logger,
): Reconciler {
  const { word, systemNamespace } = dialect();
  const resourceOf = (plural: string) => registry.storeOf(plural).served.resource;
  const prefixes = [
    resourceOf('namespaces').keyPrefix,
    resourceOf('services').key('default', word),
    resourceOf('configmaps').key(systemNamespace, authenticationConfigMap),
  ];
  const round = async () => {
    await reconcileSystemObjects(registry, options);
    return undefined;
  };
  const { rawStore: store, clock } = registry;
  return new Reconciler({ store, clock, logger }, { name: 'system objects', prefixes, round });
}

async function reconcileSystemObjects(
  registry: Registry,
  { serviceClusterIpRange, securePort, publishedAuthentication }: SystemObjectsOptions,
): Promise<void> {
  const writer = new SystemObjectsWriter(registry);
  await Promise.all(bootstrapNamespaces().map((object) => writer.ensure(namespaces, object)));
  const service = apiService(serviceClusterIpRange, securePort);
  await Promise.all([
    writer.ensure(services, service),
    reconcileAuthenticationConfigMap(writer, configMaps, publishedAuthentication),
  ]);
}
