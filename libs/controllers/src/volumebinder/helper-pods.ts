/**
 * Pods that delete or clear the data of released volumes on their nodes. Each has the name of the
 * claim that the volume was bound to, so that the pod of an earlier claim never counts.
 */
import {
  type Informer,
  isAlreadyExists,
  isConflict,
  isNotFound,
  keyOf,
  resources,
} from '@orch/client';
import { dialect } from '@orch/component';
import type { PersistentVolume, Pod, PodSpec } from '@orch/types/core/v1';
import type { ControllerContext } from '../common/controller.js';
import { ignoring } from '../common/expected-errors.js';

const volumeKey = () => dialect().key('reclaimed-volume', 'pv');

/** Returns the name of the volume that a pod works on; most pods work on none. */
export function volumesOfHelper({ metadata }: Pod): string[] {
  const name = metadata?.annotations?.[volumeKey()];
  return name && metadata?.namespace === dialect().systemNamespace ? [name] : [];
}

export class HelperPods {
  private readonly pods: Informer<Pod>;

  constructor(private readonly context: ControllerContext) {
    this.pods = context.informers.informer(resources.pods);
  }

  /**
   * Creates the pod, and removes it when it has ended. Returns whether it has succeeded; false
   * while it runs. Throws if it has failed.
   */
  async run(volume: PersistentVolume, spec: PodSpec): Promise<boolean> {
    const namespace = dialect().systemNamespace;
    const name = `volume-reclaimer-${volume.spec?.claimRef?.uid}`;
    const pod = this.pods.lister.get(keyOf(namespace, name));
    if (!pod) {
      await this.create(volume, name, spec);
      return false;
    }
    const { phase, message } = pod.status ?? {};
    if (phase !== 'Succeeded' && phase !== 'Failed') return false;
    const deletion = this.context.client
      .resource(resources.pods, namespace)
      .delete(name, { gracePeriodSeconds: 0, preconditions: { uid: pod.metadata?.uid } });
    await ignoring(deletion, isNotFound, isConflict);
    if (phase === 'Succeeded') return true;
    throw new Error(`pod ${namespace}/${name} failed: ${message || exitText(pod)}`);
  }

  private async create(volume: PersistentVolume, name: string, spec: PodSpec): Promise<void> {
    const { name: volumeName = '', uid = '' } = volume.metadata ?? {};
    const metadata = {
      name,
      annotations: { [volumeKey()]: volumeName },
      // Removes the pod if a user deletes the volume.
      ownerReferences: [
        { apiVersion: 'v1', kind: 'PersistentVolume', name: volumeName, uid, controller: true },
      ],
    };
    const creation = this.context.client
      .resource(resources.pods, dialect().systemNamespace)
      .create({ apiVersion: 'v1', kind: 'Pod', metadata, spec });
    await ignoring(creation, isAlreadyExists);
  }
}

function exitText({ status }: Pod): string {
  const ended = status?.containerStatuses?.[0]?.state?.terminated;
  return ended ? `exit code ${ended.exitCode} ${ended.message ?? ''}`.trim() : 'no reason is known';
}
