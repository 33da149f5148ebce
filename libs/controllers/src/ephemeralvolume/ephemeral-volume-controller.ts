/**
 * Creates the claims of the ephemeral volumes of pods. They belong to their pod, so that the
 * garbage collector deletes them with it.
 */
import { controllerOf } from '@orch/apimachinery';
import { isAlreadyExists, keyOf, objectKey, resources } from '@orch/client';
import { type ControllerFactory, done } from '../common/controller.js';
import { controller } from '../common/controller-builder.js';
import { messageOf } from '../common/expected-errors.js';
import { claimNameOf } from '../common/pod-claims.js';
import { never } from '../common/watches.js';
import { limits } from '../limits.js';
import { ephemeralVolumes, planEphemeralClaim } from './ephemeral-claims-plan.js';

export const ephemeralVolumeController: ControllerFactory = (context) => {
  const { informers, client, features } = context;
  if (!features.enabled('GenericEphemeralVolume')) return undefined;
  const pods = informers.informer(resources.pods).lister;
  const claims = informers.informer(resources.persistentVolumeClaims).lister;
  const recorder = context.recorder('ephemeral_volume');

  return controller('ephemeral_volume', context)
    .workers(limits.ephemeralVolumeWorkerCount)
    .for(resources.pods, {
      create: (pod) => ephemeralVolumes(pod).length > 0,
      update: (pod) => ephemeralVolumes(pod).length > 0,
      delete: never,
    })
    .watches(
      resources.persistentVolumeClaims,
      (claim) => {
        const owner = controllerOf(claim);
        return owner?.kind === 'Pod' ? [keyOf(claim.metadata?.namespace, owner.name ?? '')] : [];
      },
      { create: never, update: never },
    )
    .reconcile(async (key) => {
      const pod = pods.get(key);
      if (!pod) return done;
      const { namespace } = pod.metadata ?? {};
      for (const volume of ephemeralVolumes(pod)) {
        try {
          const existing = claims.get(keyOf(namespace, claimNameOf(pod, volume) ?? ''));
          const plan = planEphemeralClaim(pod, volume, existing);
          if (plan.act === 'refuse') throw new Error(plan.reason);
          if (plan.act === 'none') continue;
          await client.resource(resources.persistentVolumeClaims, namespace).create(plan.claim);
        } catch (error) {
          // The cache is behind: a later reconciliation checks whose claim it is.
          if (isAlreadyExists(error)) throw error;
          const message = `ephemeral volume ${volume.name}: ${messageOf(error)}`;
          recorder.event(pod, 'Warning', 'FailedBinding', message);
          throw new Error(`pod ${objectKey(pod)}, ${message}`, { cause: error });
        }
      }
      return done;
    });
};
