/**
 * Keeps as many pods as each replica set asks for. Level-based: a key comes in, the difference between
 * what is asked and what is there goes out. What is there comes from a cache, so a sync does nothing
 * while requests of an earlier one have not shown up in it (`Expectations`).
 */
import { controllerOf, isControlledBy } from '@orch/apimachinery';
import {
  type EventRecorder,
  type Informer,
  isNamespaceTerminating,
  isNotFound,
  keyOf,
  objectKey,
  resources,
  type WorkQueue,
} from '@orch/client';
import type { ReplicaSet } from '@orch/types/apps/v1';
import type { Pod } from '@orch/types/core/v1';
import { forEachBounded, slowStart } from '../common/batches.js';
import { claim } from '../common/claimer.js';
import { Expectations } from '../common/expectations.js';
import { candidatesOf, controlledBy, indexOwned } from '../common/owned.js';
import { podFromTemplate } from '../common/pod-template.js';
import { isPodActive, isPodReady } from '../common/pods.js';
import { replaceStatus } from '../common/replace-status.js';
import { selectorOf } from '../common/selectors.js';
import { limits } from '../limits.js';
import {
  type Controller,
  type ControllerContext,
  queueFor,
  workOff,
} from '../manager/controller.js';
import type { DeletionRules } from './deletion-order.js';
import {
  planReplicas,
  type ReplicaFailure,
  type ReplicaPlan,
  replicaSetStatus,
  sameStatus,
} from './replicaset-plan.js';

const ownerType = { apiVersion: 'apps/v1', kind: 'ReplicaSet' } as const;

export class ReplicaSetController implements Controller {
  private readonly replicaSets: Informer<ReplicaSet>;
  private readonly pods: Informer<Pod>;
  private readonly queue: WorkQueue;
  private readonly expectations: Expectations;
  private readonly recorder: EventRecorder;

  constructor(
    private readonly context: ControllerContext,
    private readonly workerCount: number,
  ) {
    this.replicaSets = context.informers.informer(resources.replicaSets);
    this.pods = context.informers.informer(resources.pods);
    this.queue = queueFor(context, 'replicaset');
    this.expectations = new Expectations(context.clock);
    this.recorder = context.recorder('replicaset-controller');
    indexOwned(this.pods);
    indexOwned(this.replicaSets);
    this.replicaSets.addHandlers({
      onAdd: (one) => this.queue.add(objectKey(one)),
      onUpdate: (one) => this.queue.add(objectKey(one)),
      onDelete: (one) => {
        this.expectations.forget(objectKey(one));
        this.queue.add(objectKey(one));
      },
    });
    this.pods.addHandlers({
      onAdd: (pod) => this.podAdded(pod),
      onUpdate: (pod, old) => this.podUpdated(pod, old),
      onDelete: (pod) => this.podDeleted(pod),
    });
  }

  run(signal: AbortSignal): Promise<void> {
    return workOff(this.queue, this.workerCount, signal, (key) => this.reconcile(key));
  }

  private async reconcile(key: string): Promise<number | undefined> {
    const replicaSet = this.replicaSets.lister.get(key);
    if (!replicaSet) return undefined;
    const mayManage = this.expectations.satisfied(key);
    const pods = await this.claimPods(replicaSet);
    let failure: unknown;
    let noted: ReplicaFailure | undefined;
    if (mayManage && !replicaSet.metadata?.deletionTimestamp) {
      const plan = planReplicas(replicaSet, pods, this.relatedPods(replicaSet), this.rules());
      failure = await this.carryOut(key, replicaSet, plan);
      if (failure !== undefined) {
        const reason = plan.createCount > 0 ? 'FailedCreate' : 'FailedDelete';
        noted = { reason, message: messageOf(failure) };
      }
    }
    const status = await this.writeStatus(replicaSet, pods, noted);
    if (failure !== undefined) throw failure;
    const minReadySeconds = replicaSet.spec?.minReadySeconds ?? 0;
    const isWaiting = (status?.readyReplicas ?? 0) !== (status?.availableReplicas ?? 0);
    return minReadySeconds > 0 && isWaiting ? minReadySeconds * 1000 : undefined;
  }

  private rules(): DeletionRules {
    const { features, clock } = this.context;
    return {
      byCost: features.enabled('PodDeletionCost'),
      byLogarithmicAge: features.enabled('LogarithmicScaleDown'),
      nowMs: clock.nowMs(),
    };
  }

  private claimPods(replicaSet: ReplicaSet): Promise<Pod[]> {
    return claim({
      client: this.context.client,
      owner: replicaSet,
      ownerResource: resources.replicaSets,
      ownerType,
      selector: selectorOf(replicaSet),
      dependentResource: resources.pods,
      candidates: candidatesOf(this.pods, replicaSet).filter(isPodActive),
    });
  }

  /** Pods of all replica sets that the same deployment owns. */
  private relatedPods(replicaSet: ReplicaSet): Pod[] {
    const owner = controllerOf(replicaSet);
    const siblings = owner ? controlledBy(this.replicaSets, owner.uid ?? '') : [replicaSet];
    return siblings.flatMap((one) => controlledBy(this.pods, one.metadata?.uid ?? ''));
  }

  /** @returns the first failure, if any. */
  private carryOut(key: string, replicaSet: ReplicaSet, plan: ReplicaPlan): Promise<unknown> {
    if (plan.createCount > 0) return this.createPods(key, replicaSet, plan.createCount);
    if (plan.deletions.length > 0) return this.deletePods(key, replicaSet, plan.deletions);
    return Promise.resolve(undefined);
  }

  private async createPods(key: string, replicaSet: ReplicaSet, count: number): Promise<unknown> {
    const pods = this.context.client.resource(resources.pods, replicaSet.metadata?.namespace);
    const owner = { ...replicaSet, ...ownerType };
    this.expectations.expectCreations(key, count);
    const { successCount, error } = await slowStart(count, async () => {
      try {
        const made = await pods.create(podFromTemplate(owner, replicaSet.spec?.template));
        const message = `Created pod: ${made.metadata?.name}`;
        this.recorder.event(owner, 'Normal', 'SuccessfulCreate', message);
      } catch (failure) {
        if (!isNamespaceTerminating(failure)) {
          const message = `Error creating: ${messageOf(failure)}`;
          this.recorder.event(owner, 'Warning', 'FailedCreate', message);
        }
        throw failure;
      }
    });
    this.expectations.creationObserved(key, count - successCount);
    // In a namespace that is going, nothing can be made and trying again is of no use.
    return isNamespaceTerminating(error) ? undefined : error;
  }

  private async deletePods(
    key: string,
    replicaSet: ReplicaSet,
    deletions: readonly Pod[],
  ): Promise<unknown> {
    const pods = this.context.client.resource(resources.pods, replicaSet.metadata?.namespace);
    const owner = { ...replicaSet, ...ownerType };
    this.expectations.expectDeletions(key, deletions.map(objectKey));
    const errors = await forEachBounded(deletions, limits.batchConcurrencyMax, async (pod) => {
      const name = pod.metadata?.name ?? '';
      try {
        await pods.delete(name);
        this.recorder.event(owner, 'Normal', 'SuccessfulDelete', `Deleted pod: ${name}`);
      } catch (failure) {
        this.expectations.deletionObserved(key, objectKey(pod));
        if (isNotFound(failure)) return;
        const message = `Error deleting: ${messageOf(failure)}`;
        this.recorder.event(owner, 'Warning', 'FailedDelete', message);
        throw failure;
      }
    });
    return errors[0];
  }

  private async writeStatus(
    replicaSet: ReplicaSet,
    pods: readonly Pod[],
    failure: ReplicaFailure | undefined,
  ): Promise<ReplicaSet['status']> {
    const { client, clock } = this.context;
    const nowMs = clock.nowMs();
    const written = await replaceStatus(
      client.resource(resources.replicaSets, replicaSet.metadata?.namespace),
      replicaSet,
      (current) => {
        const observed = { ...current, metadata: { ...current.metadata } };
        observed.metadata.generation = replicaSet.metadata?.generation;
        const status = replicaSetStatus(observed, pods, failure, nowMs);
        return sameStatus(current.status, status) ? undefined : { ...current, status };
      },
    );
    return written.status;
  }

  private podAdded(pod: Pod): void {
    if (pod.metadata?.deletionTimestamp) {
      this.podDeleted(pod);
      return;
    }
    const owner = this.ownerKey(pod);
    if (owner !== undefined) {
      this.expectations.creationObserved(owner);
      this.queue.add(owner);
    } else if (!controllerOf(pod)) {
      this.addThoseSelecting(pod);
    }
  }

  private podUpdated(pod: Pod, old: Pod): void {
    if (pod.metadata?.deletionTimestamp) {
      this.podDeleted(pod);
      return;
    }
    const owner = this.ownerKey(pod);
    const oldOwner = this.ownerKey(old);
    if (oldOwner !== undefined && oldOwner !== owner) this.queue.add(oldOwner);
    if (owner === undefined) {
      if (!controllerOf(pod)) this.addThoseSelecting(pod);
      return;
    }
    this.queue.add(owner);
    const minReadySeconds = this.replicaSets.lister.get(owner)?.spec?.minReadySeconds ?? 0;
    if (minReadySeconds > 0 && isPodReady(pod) && !isPodReady(old)) {
      // Times in a status are whole seconds: one more, so that the pod is available by then.
      this.queue.addAfter(owner, (minReadySeconds + 1) * 1000);
    }
  }

  private podDeleted(pod: Pod): void {
    const owner = this.ownerKey(pod);
    if (owner === undefined) return;
    this.expectations.deletionObserved(owner, objectKey(pod));
    this.queue.add(owner);
  }

  /** Key of the replica set that controls the pod, if it is (still) there. */
  private ownerKey(pod: Pod): string | undefined {
    const controller = controllerOf(pod);
    if (controller?.kind !== ownerType.kind) return undefined;
    const key = keyOf(pod.metadata?.namespace, controller.name ?? '');
    const owner = this.replicaSets.lister.get(key);
    return owner && isControlledBy(pod, owner) ? key : undefined;
  }

  private addThoseSelecting(pod: Pod): void {
    for (const replicaSet of this.replicaSets.lister.list(pod.metadata?.namespace ?? '')) {
      if (selectorOf(replicaSet).matches(pod.metadata?.labels))
        this.queue.add(objectKey(replicaSet));
    }
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
