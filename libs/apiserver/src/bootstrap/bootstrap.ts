/**
 * The objects a cluster cannot do without: system namespaces and priority classes, and the API's own
 * service with the address of this server. Made at start where they are missing; the endpoints are
 * brought up to date. What an operator has changed in the others stays.
 */
import {
  type ApiObject,
  apiEndpoints,
  apiService,
  bootstrapNamespaces,
  bootstrapPriorityClasses,
} from '@orch/api';
import { isStatus } from '@orch/apimachinery';
import type { Endpoints } from '@orch/types/core/v1';
import { authenticated } from '../authentication/user.js';
import { createObject } from '../registry/create.js';
import { freshObject } from '../registry/entry-view.js';
import type { RegistryParts, WriteContext } from '../registry/registry-parts.js';
import type { ServedResource } from '../registry/resource.js';
import { type UpdateStrategy, updateObject } from '../registry/update.js';
import { toStoredShape } from '../request/decode-object.js';

export interface BootstrapSettings {
  /** The first service range. */
  readonly serviceClusterIpRange: string;
  /** Where this server is reached by nodes; a loopback address serves clusters of one machine. */
  readonly advertiseAddress: string;
  readonly securePort: number;
}

const bootstrapTimeoutMs = 30_000;

export async function bootstrapCluster(
  parts: RegistryParts,
  settings: BootstrapSettings,
): Promise<void> {
  const context: WriteContext = {
    user: authenticated('system:apiserver', '', ['system:masters']),
    dryRun: false,
    deadlineMs: parts.clock.monotonicMs() + bootstrapTimeoutMs,
    warnings: [],
  };
  const { serviceClusterIpRange, securePort, advertiseAddress } = settings;
  for (const namespace of bootstrapNamespaces()) {
    await ensure(parts, context, 'namespaces', '', namespace);
  }
  for (const priorityClass of bootstrapPriorityClasses()) {
    await ensure(parts, context, 'priorityclasses', '', priorityClass, 'scheduling');
  }
  await ensure(
    parts,
    context,
    'services',
    'default',
    apiService(serviceClusterIpRange, securePort),
  );
  await bringEndpoints(parts, context, apiEndpoints([advertiseAddress], securePort));
}

function servedKind(parts: RegistryParts, plural: string, groupHead = 'core'): ServedResource {
  const served = parts.table.servedAsStored(groupHead, plural);
  if (!served) throw new Error(`${plural} are not served`);
  return served;
}

/** True when it was made now. */
async function ensure(
  parts: RegistryParts,
  context: WriteContext,
  plural: string,
  namespace: string,
  object: ApiObject,
  groupHead = 'core',
): Promise<boolean> {
  const served = servedKind(parts, plural, groupHead);
  const key = served.resource.key(namespace, object.metadata?.name ?? '');
  const { entry } = await parts.store.get(key, {
    consistency: { kind: 'quorum' },
    timeoutMs: bootstrapTimeoutMs,
  });
  if (entry) return false;
  try {
    await createObject(parts, served, namespace, toStoredShape(served, object), context);
    return true;
  } catch (error) {
    // Another server of the cluster was faster.
    if (isStatus(error, 'AlreadyExists')) return false;
    throw error;
  }
}

/** Users may not lead services to loopback addresses; this server may, where everything is on one machine. */
const ownEndpointsStrategy: UpdateStrategy = {
  subresource: '',
  prepare: () => undefined,
  validate: () => [],
};

async function bringEndpoints(
  parts: RegistryParts,
  context: WriteContext,
  wanted: Endpoints,
): Promise<void> {
  const { name = '', namespace = '' } = wanted.metadata ?? {};
  const { subsets: _later, ...empty } = structuredClone(wanted);
  await ensure(parts, context, 'endpoints', namespace, empty);
  const served = servedKind(parts, 'endpoints');
  await updateObject(
    parts,
    { served, namespace, name },
    {
      strategy: ownEndpointsStrategy,
      checksUid: false,
      produce(_existing, entry) {
        const endpoints = freshObject(entry) as Endpoints;
        endpoints.subsets = structuredClone(wanted.subsets);
        endpoints.metadata!.labels = { ...endpoints.metadata?.labels, ...wanted.metadata?.labels };
        endpoints.metadata!.resourceVersion = '';
        return endpoints;
      },
    },
    context,
  );
}
