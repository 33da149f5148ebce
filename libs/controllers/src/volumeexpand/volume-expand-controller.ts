/** Expands the volumes of claims that request more, or leaves that to the driver of the volume. */
import { isConflict, isNotFound, objectKey, resources } from '@orch/client';
import { type ControllerFactory, done } from '../common/controller.js';
import { controller } from '../common/controller-builder.js';
import { ignoring } from '../common/expected-errors.js';
import { never } from '../common/watches.js';
import { limits } from '../limits.js';
import { planExpansion } from './expansion-plan.js';

const ignored =
  "Ignoring the PVC: didn't find a plugin capable of expanding the volume; waiting for an external controller to process this PVC.";

export const volumeExpandController: ControllerFactory = (context) => {
  const { informers, client, features } = context;
  if (!features.enabled('ExpandPersistentVolumes')) return undefined;
  const claims = informers.informer(resources.persistentVolumeClaims).lister;
  const volumes = informers.informer(resources.persistentVolumes).lister;
  const recorder = context.recorder('volume_expand');

  return controller('volume_expand', context)
    .workers(limits.volumeExpandWorkerCount)
    .for(resources.persistentVolumeClaims, { delete: never })
    .reconcile(async (key) => {
      const claim = claims.get(key);
      if (!claim) return done;
      const plan = planExpansion(claim, volumes.get(claim.spec?.volumeName ?? ''));
      if (plan.act === 'none') return done;
      if (plan.act === 'leave') {
        recorder.event(claim, plan.isDriver ? 'Normal' : 'Warning', 'ExternalExpanding', ignored);
        return done;
      }
      if (plan.volume) await client.resource(resources.persistentVolumes).replace(plan.volume);
      const written = client
        .resource(resources.persistentVolumeClaims, claim.metadata?.namespace)
        .replaceStatus(plan.claim);
      if (!(await ignoring(written, isConflict, isNotFound))) return done;
      const message = `ExpandVolume succeeded for volume ${objectKey(claim)}`;
      recorder.event(claim, 'Normal', 'VolumeResizeSuccessful', message);
      return done;
    });
};
