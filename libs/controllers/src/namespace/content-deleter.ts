/** Deletes the content of a namespace: all objects of all discovered resources. */
import {
  type ApiClient,
  ApiError,
  type ApiObject,
  type DiscoveredResource,
  isNotFound,
} from '@orch/client';
import { dialect } from '@orch/component';
import { forEachBounded } from '../common/batches.js';
import { messageOf } from '../common/expected-errors.js';
import { limits } from '../limits.js';
import { type DeletionFindings, podGraceSeconds, remainingContent } from './namespace-content.js';

export interface DeletionOutcome extends DeletionFindings {
  /** When to check again; 0 if nothing remains. */
  readonly checkAfterSeconds: number;
}

/** Shortest time between checks of content that waits for its own finalizers. */
const finalizerCheckSeconds = 15;

/** @returns the objects that remain, for example because of finalizers, and the errors. */
export async function deleteContent(
  client: ApiClient,
  namespace: string,
): Promise<DeletionOutcome> {
  const { resources, failedGroups } = await client.discover();
  const left = new Map<string, readonly ApiObject[]>();
  const errors = await forEachBounded(
    deletableResources(resources),
    limits.namespaceDeletionConcurrencyMax,
    async (resource) => {
      left.set(resourceName(resource), await deleteAll(client, resource, namespace));
    },
  );
  const remaining = remainingContent(left);
  const hasRemaining = remaining.countByResource.size > 0;
  const pods = left.get('pods.') ?? [];
  return {
    discoveryErrors: failedGroups.map((name) => `unable to retrieve the resources of ${name}`),
    deletionErrors: errors.map(messageOf),
    remaining,
    checkAfterSeconds: hasRemaining
      ? Math.max(podGraceSeconds(pods), finalizerCheckSeconds) / 2 + 1
      : 0,
  };
}

/**
 * Each namespaced resource once, in the preferred version of its group if that version serves it.
 */
function deletableResources(all: readonly DiscoveredResource[]): DiscoveredResource[] {
  const byName = new Map<string, DiscoveredResource>();
  for (const resource of all) {
    const { namespaced, verbs, preferred } = resource;
    if (!namespaced || !verbs.includes('delete') || !verbs.includes('list')) continue;
    const name = resourceName(resource);
    if (preferred || !byName.has(name)) byName.set(name, resource);
  }
  return [...byName.values()];
}

function resourceName(resource: DiscoveredResource): string {
  return `${resource.plural}.${dialect().group(resource.group)}`;
}

/** @returns the objects that exist after the deletion. */
async function deleteAll(
  client: ApiClient,
  resource: DiscoveredResource,
  namespace: string,
): Promise<readonly ApiObject[]> {
  const handle = client.resource(resource, namespace);
  const before = await handle.listAll({ limit: 500 });
  if (before.items.length === 0) return [];
  const background = { propagationPolicy: 'Background' } as const;
  const isCollectionDeleted =
    resource.verbs.includes('deletecollection') &&
    (await succeeds(() => handle.deleteCollection({}, background)));
  if (!isCollectionDeleted) {
    const waiting = before.items.filter((item) => !item.metadata?.deletionTimestamp);
    for (const item of waiting) {
      await succeeds(() => handle.delete(item.metadata?.name ?? '', background));
    }
  }
  return (await handle.listAll({ limit: 500 })).items;
}

/** False if the object does not exist or the server does not support the verb. */
async function succeeds(act: () => Promise<unknown>): Promise<boolean> {
  try {
    await act();
    return true;
  } catch (error) {
    if (isNotFound(error)) return false;
    if (error instanceof ApiError && error.statusCode === 405) return false;
    throw error;
  }
}
