/** Deletes everything in a namespace, found by discovery, and tells what remains. */

import {
  ApiError,
  type ApiObject,
  type DiscoveredResource,
  isNotFound,
  type RestClient,
} from '@orch/client';
import { dialect } from '@orch/component';
import { forEachBounded } from '../common/batches.js';
import { limits } from '../limits.js';
import { type DeletionFindings, podGraceSeconds, remainingContent } from './namespace-content.js';

export interface DeletionOutcome extends DeletionFindings {
  /** When it is worth looking again; 0 when nothing is left. */
  readonly againAfterSeconds: number;
}

/** Content with finalizers of its own ends when they do: looked at again after this long. */
const finalizerCheckSeconds = 15;

export async function deleteContent(
  client: RestClient,
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
  const isLeft = remaining.countByResource.size > 0;
  const pods = left.get('pods.') ?? [];
  return {
    discoveryErrors: failedGroups.map((name) => `unable to retrieve the resources of ${name}`),
    deletionErrors: errors.map((error) => (error instanceof Error ? error.message : String(error))),
    remaining,
    againAfterSeconds: isLeft ? Math.max(podGraceSeconds(pods), finalizerCheckSeconds) / 2 + 1 : 0,
  };
}

/** Each namespaced resource once, in the version its group prefers if that serves it. */
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

/** @returns what is still there after deleting. */
async function deleteAll(
  client: RestClient,
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

/** False when the object or the verb is not there. */
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
