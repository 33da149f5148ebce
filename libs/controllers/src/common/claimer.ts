/**
 * Carries claims out: adopts by adding a controller reference, releases by removing it. Before the
 * first adoption the owner is read from the server, because the cache may not have seen its
 * deletion.
 */
import { controllerReference, type LabelSelector } from '@orch/apimachinery';
import {
  type ApiClient,
  type ApiObject,
  isInvalid,
  isNotFound,
  type KnownResource,
  type ResourceRef,
} from '@orch/client';
import { dialect } from '@orch/component';
import { claimOf } from './claim.js';
import { ignoring } from './expected-errors.js';

export interface ClaimRequest<T extends ApiObject> {
  readonly client: ApiClient;
  readonly owner: ApiObject;
  readonly ownerResource: KnownResource<ApiObject>;
  readonly selector: LabelSelector;
  readonly dependentResource: ResourceRef<T>;
  readonly candidates: readonly T[];
  /** False: the dependent is treated as not selected. By default all are eligible. */
  readonly isEligible?: (dependent: T) => boolean;
}

/** Adopts and releases. @returns the dependents that the owner has afterwards. */
export async function claim<T extends ApiObject>(request: ClaimRequest<T>): Promise<T[]> {
  const { owner, ownerResource, selector, candidates } = request;
  const { group, version, kind } = ownerResource;
  const claimed: T[] = [];
  let ownerCheck: Promise<void> | undefined;
  for (const dependent of candidates) {
    const isEligible = request.isEligible?.(dependent) ?? true;
    switch (claimOf(owner, selector, dependent, isEligible)) {
      case 'keep':
        claimed.push(dependent);
        break;
      case 'adopt': {
        ownerCheck ??= checkOwner(request);
        await ownerCheck;
        const apiVersion = dialect().apiVersion(group, version);
        const reference = controllerReference({ ...owner, apiVersion, kind });
        if (await patchOwners(request, dependent, reference)) claimed.push(dependent);
        break;
      }
      case 'release':
        await patchOwners(request, dependent, { $patch: 'delete', uid: owner.metadata?.uid });
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
  const latest = await client.resource(ownerResource, namespace).get(name);
  const latestUid = latest.metadata?.uid;
  if (latestUid !== uid) {
    throw new Error(`${namespace}/${name} was replaced: its uid is ${latestUid}, not ${uid}`);
  }
  if (latest.metadata?.deletionTimestamp) {
    throw new Error(`${namespace}/${name} is being deleted and adopts nothing`);
  }
}

/** @returns false if the dependent does not exist any more. */
async function patchOwners<T extends ApiObject>(
  { client, owner, dependentResource }: ClaimRequest<T>,
  dependent: T,
  reference: object,
): Promise<boolean> {
  const { name = '', uid } = dependent.metadata ?? {};
  const body = { metadata: { uid, ownerReferences: [reference] } };
  const dependents = client.resource(dependentResource, owner.metadata?.namespace);
  // Invalid: the uid differs, so that another object has the name.
  const patch = dependents.patch(name, body, { type: 'strategic' });
  return (await ignoring(patch, isNotFound, isInvalid)) !== undefined;
}
