/** Holds a volume that is deleted while it is bound to a claim. */
import { type Informer, isConflict, isNotFound, resources, type WorkQueue } from '@orch/client';
import { dialect } from '@orch/component';
import type { PersistentVolume } from '@orch/types/core/v1';
import {
  type Controller,
  type ControllerContext,
  queueFor,
  workOff,
} from '../manager/controller.js';
import { isAwaited, isBound, protectedObject, releasedObject } from './uses.js';

export class VolumeProtection implements Controller {
  private readonly finalizer = dialect().key('pv-protection');
  private readonly volumes: Informer<PersistentVolume>;
  private readonly queue: WorkQueue;

  constructor(
    private readonly context: ControllerContext,
    private readonly workerCount: number,
  ) {
    this.volumes = context.informers.informer(resources.persistentVolumes);
    this.queue = queueFor(context, 'pvprotection');
    const look = ({ metadata }: PersistentVolume) => this.queue.add(metadata?.name ?? '');
    this.volumes.addHandlers({ onAdd: look, onUpdate: look });
  }

  run(signal: AbortSignal): Promise<void> {
    return workOff(this.queue, this.workerCount, signal, (key) => this.reconcile(key));
  }

  private async reconcile(name: string): Promise<undefined> {
    const volume = this.volumes.lister.get(name);
    if (!volume) return;
    const isReleased = isAwaited(volume, this.finalizer) && !isBound(volume);
    const next = isReleased
      ? releasedObject(volume, this.finalizer)
      : protectedObject(volume, this.finalizer);
    if (!next) return;
    try {
      await this.context.client.resource(resources.persistentVolumes).replace(next);
    } catch (error) {
      // Lost against another writer: the watch brings what it wrote, and the next look.
      if (!isConflict(error) && !isNotFound(error)) throw error;
    }
  }
}
