/** Holds what is deleted until nothing uses it any more, by a finalizer of its own. */
import {
  type Informer,
  isConflict,
  isNotFound,
  type KnownResource,
  keyOf,
  resources,
  type WorkQueue,
} from '@orch/client';
import { dialect } from '@orch/component';
import type { PersistentVolume, PersistentVolumeClaim, Pod } from '@orch/types/core/v1';
import {
  type Controller,
  type ControllerContext,
  queueFor,
  workOff,
} from '../manager/controller.js';
import {
  claimNames,
  type Held,
  isAwaited,
  isBound,
  protectedObject,
  releasedObject,
  usesClaim,
} from './uses.js';

interface Protected<T extends Held> {
  readonly resource: KnownResource<T>;
  readonly queueName: string;
  /** Without the group domain. */
  readonly finalizer: string;
  readonly isUsed: (object: T) => Promise<boolean>;
}

class StorageProtection<T extends Held> implements Controller {
  private readonly finalizer: string;
  private readonly objects: Informer<T>;
  private readonly queue: WorkQueue;

  constructor(
    private readonly context: ControllerContext,
    private readonly what: Protected<T>,
  ) {
    this.finalizer = dialect().key(what.finalizer);
    this.objects = context.informers.informer(what.resource);
    this.queue = queueFor(context, what.queueName);
    const look = ({ metadata }: T) => this.look(metadata?.namespace ?? '', metadata?.name ?? '');
    this.objects.addHandlers({ onAdd: look, onUpdate: look });
  }

  look(namespace: string, name: string): void {
    this.queue.add(keyOf(namespace, name));
  }

  run(signal: AbortSignal): Promise<void> {
    return workOff(this.queue, 1, signal, (key) => this.reconcile(key));
  }

  private async reconcile(key: string): Promise<undefined> {
    const object = this.objects.lister.get(key);
    if (!object) return;
    const isReleased = isAwaited(object, this.finalizer) && !(await this.what.isUsed(object));
    const next = isReleased
      ? releasedObject(object, this.finalizer)
      : protectedObject(object, this.finalizer);
    if (!next) return;
    try {
      await this.context.client
        .resource(this.what.resource, object.metadata?.namespace)
        .replace(next);
    } catch (error) {
      // Lost against another writer: the watch brings what it wrote, and the next look.
      if (!isConflict(error) && !isNotFound(error)) throw error;
    }
  }
}

/** Volumes stay while they are bound to a claim. */
export function volumeProtection(context: ControllerContext): Controller {
  return new StorageProtection<PersistentVolume>(context, {
    resource: resources.persistentVolumes,
    queueName: 'pvprotection',
    finalizer: 'pv-protection',
    isUsed: async (volume) => isBound(volume),
  });
}

/** Claims stay while a pod uses them. */
export function claimProtection(context: ControllerContext): Controller {
  const pods = context.informers.informer(resources.pods);
  const protection = new StorageProtection<PersistentVolumeClaim>(context, {
    resource: resources.persistentVolumeClaims,
    queueName: 'pvcprotection',
    finalizer: 'pvc-protection',
    // What is known here may be old: before it is let go, the server is asked.
    async isUsed(claim) {
      const namespace = claim.metadata?.namespace ?? '';
      const uses = (pod: Pod) => usesClaim(pod, claim);
      if (pods.lister.list(namespace).some(uses)) return true;
      const { items } = await context.client.resource(resources.pods, namespace).list();
      return items.some(uses);
    },
  });
  pods.addHandlers({
    onDelete(pod) {
      for (const name of claimNames(pod)) protection.look(pod.metadata?.namespace ?? '', name);
    },
  });
  return protection;
}
