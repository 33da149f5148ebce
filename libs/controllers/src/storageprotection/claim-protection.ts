/** Holds a claim that is deleted until no pod uses it any more. */
import {
  type Informer,
  isConflict,
  isNotFound,
  keyOf,
  resources,
  type WorkQueue,
} from '@orch/client';
import { dialect } from '@orch/component';
import type { PersistentVolumeClaim, Pod } from '@orch/types/core/v1';
import {
  type Controller,
  type ControllerContext,
  queueFor,
  workOff,
} from '../manager/controller.js';
import { claimNames, isAwaited, protectedObject, releasedObject, usesClaim } from './uses.js';

export class ClaimProtection implements Controller {
  private readonly finalizer = dialect().key('pvc-protection');
  private readonly claims: Informer<PersistentVolumeClaim>;
  private readonly pods: Informer<Pod>;
  private readonly queue: WorkQueue;

  constructor(
    private readonly context: ControllerContext,
    private readonly workerCount: number,
  ) {
    this.claims = context.informers.informer(resources.persistentVolumeClaims);
    this.pods = context.informers.informer(resources.pods);
    this.queue = queueFor(context, 'pvcprotection');
    const look = ({ metadata }: PersistentVolumeClaim) =>
      this.queue.add(keyOf(metadata?.namespace ?? '', metadata?.name ?? ''));
    this.claims.addHandlers({ onAdd: look, onUpdate: look });
    this.pods.addHandlers({
      onDelete: (pod) => {
        for (const name of claimNames(pod)) {
          this.queue.add(keyOf(pod.metadata?.namespace ?? '', name));
        }
      },
    });
  }

  run(signal: AbortSignal): Promise<void> {
    return workOff(this.queue, this.workerCount, signal, (key) => this.reconcile(key));
  }

  private async reconcile(key: string): Promise<undefined> {
    const claim = this.claims.lister.get(key);
    if (!claim) return;
    const isReleased = isAwaited(claim, this.finalizer) && !(await this.isUsed(claim));
    const next = isReleased
      ? releasedObject(claim, this.finalizer)
      : protectedObject(claim, this.finalizer);
    if (!next) return;
    try {
      await this.claimsOf(claim).replace(next);
    } catch (error) {
      // Lost against another writer: the watch brings what it wrote, and the next look.
      if (!isConflict(error) && !isNotFound(error)) throw error;
    }
  }

  /** What is known here may be old: before it is let go, the server is asked. */
  private async isUsed(claim: PersistentVolumeClaim): Promise<boolean> {
    const namespace = claim.metadata?.namespace ?? '';
    const uses = (pod: Pod) => pod.metadata?.namespace === namespace && usesClaim(pod, claim);
    if (this.pods.lister.list().some(uses)) return true;
    const { items } = await this.context.client.resource(resources.pods, namespace).list();
    return items.some(uses);
  }

  private claimsOf({ metadata }: PersistentVolumeClaim) {
    return this.context.client.resource(
      resources.persistentVolumeClaims,
      metadata?.namespace ?? '',
    );
  }
}
