/**
 * Protects volumes and claims from deletion while they are in use: adds a finalizer when they are
 * created and removes it when they are deleted and nothing uses them any more.
 */
import {
  type ApiObject,
  isConflict,
  isNotFound,
  type KnownResource,
  resources,
} from '@orch/client';
import { dialect } from '@orch/component';
import type { PersistentVolumeClaim, Pod } from '@orch/types/core/v1';
import {
  type ControllerContext,
  type ControllerFactory,
  done,
  type Reconcile,
} from '../common/controller.js';
import { controller } from '../common/controller-builder.js';
import { ignoring } from '../common/expected-errors.js';
import { claimKeys } from '../common/pod-claims.js';
import { never } from '../common/watches.js';
import { isAwaited, isBound, protectedObject, releasedObject, usesClaim } from './uses.js';

/** Protects volumes while they are bound to a claim. */
export const volumeProtection: ControllerFactory = (context) =>
  controller('pvprotection', context)
    .for(resources.persistentVolumes, { delete: never })
    .reconcile(
      protect(context, resources.persistentVolumes, 'pv-protection', async (volume) =>
        isBound(volume),
      ),
    );

/** Protects claims while a pod uses them. */
export const claimProtection: ControllerFactory = (context) =>
  controller('pvcprotection', context)
    .for(resources.persistentVolumeClaims, { delete: never })
    .watches(resources.pods, claimKeys, { create: never, update: never })
    .reconcile(
      protect(context, resources.persistentVolumeClaims, 'pvc-protection', (claim) =>
        isClaimUsed(context, claim),
      ),
    );

/** @param finalizer without the group domain. */
function protect<T extends ApiObject>(
  { informers, client }: ControllerContext,
  resource: KnownResource<T>,
  finalizer: string,
  isUsed: (object: T) => Promise<boolean>,
): Reconcile {
  const key = dialect().key(finalizer);
  const { lister } = informers.informer(resource);
  return async (objectKey) => {
    const object = lister.get(objectKey);
    if (!object) return done;
    const isReleased = isAwaited(object, key) && !(await isUsed(object));
    const next = isReleased ? releasedObject(object, key) : protectedObject(object, key);
    if (!next) return done;
    const replaced = client.resource(resource, object.metadata?.namespace).replace(next);
    await ignoring(replaced, isConflict, isNotFound);
    return done;
  };
}

/** The cache may miss a new pod: before a claim is released, the pods are read from the server. */
async function isClaimUsed(
  { informers, client }: ControllerContext,
  claim: PersistentVolumeClaim,
): Promise<boolean> {
  const namespace = claim.metadata?.namespace ?? '';
  const uses = (pod: Pod) => usesClaim(pod, claim);
  if (informers.informer(resources.pods).lister.list(namespace).some(uses)) return true;
  const { items } = await client.resource(resources.pods, namespace).list();
  return items.some(uses);
}
