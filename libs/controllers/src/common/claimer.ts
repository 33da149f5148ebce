/**
 * Carries claims out: adopts by adding a controller reference, releases by removing it. Before the first
 * adoption of a sync the owner is read from the server: one that is gone or being deleted in truth must
 * not adopt, whatever the cache says.
 */
import { controllerReference, type LabelSelector } from '@orch/apimachinery';
import {
  type ApiObject,
  isInvalid,
  isNotFound,
  type ResourceRef,
  type RestClient,
} from '@orch/client';
import { claimOf } from './claim.js';

export interface ClaimRequest<T extends ApiObject> {
  readonly client: RestClient;
  readonly owner: ApiObject;
  readonly ownerResource: ResourceRef<ApiObject>;
  readonly ownerType: { readonly apiVersion: string; readonly kind: string };
  readonly selector: LabelSelector;
  readonly dependentResource: ResourceRef<T>;
  readonly candidates: readonly T[];
}

/** @returns the dependents that are the owner's after this. */
export async function claim<T extends ApiObject>(request: ClaimRequest<T>): Promise<T[]> {
  const { client, owner, selector, candidates } = request;
  const namespace = owner.metadata?.namespace;
  const claimed: T[] = [];
  let canAdopt: Promise<void> | undefined;
  for (const dependent of candidates) {
    switch (claimOf(owner, selector, dependent)) {
      case 'keep':
        claimed.push(dependent);
        break;
      case 'adopt': {
        canAdopt ??= checkOwner(request);
        await canAdopt;
        const reference = controllerReference({ ...owner, ...request.ownerType });
        if (await patchOwners(client, request.dependentResource, namespace, dependent, reference)) {
          claimed.push(dependent);
        }
        break;
      }
      case 'release':
        await patchOwners(client, request.dependentResource, namespace, dependent, {
          $patch: 'delete',
          uid: owner.metadata?.uid,
        });
        break;
      case 'ignore':
        break;
    }
  }
  return claimed;
}

async function checkOwner<T extends ApiObject>(request: ClaimRequest<T>): Promise<void> {
  const { owner, client, ownerResource } = request;
  const { namespace, name = '', uid } = owner.metadata ?? {};
  const fresh = await client.resource(ownerResource, namespace).get(name);
  if (fresh.metadata?.uid !== uid) {
    throw new Error(`${namespace}/${name} is another object now: it had uid ${uid}`);
  }
  if (fresh.metadata?.deletionTimestamp) {
    throw new Error(`${namespace}/${name} is being deleted and adopts nothing`);
  }
}

/** @returns false when the dependent is gone, which settles the matter. */
async function patchOwners<T extends ApiObject>(
  client: RestClient,
  resource: ResourceRef<T>,
  namespace: string | undefined,
  dependent: T,
  reference: object,
): Promise<boolean> {
  const body = { metadata: { uid: dependent.metadata?.uid, ownerReferences: [reference] } };
  try {
    await client
      .resource(resource, namespace)
      .patch(dependent.metadata?.name ?? '', body, { type: 'strategic' });
    return true;
  } catch (error) {
    // Invalid: the uid no longer fits, so this name is another object.
    if (isNotFound(error) || isInvalid(error)) return false;
    throw error;
  }
}
