/**
 * Rolls deployments out. The shell around `planRollout`: it claims the replica sets, asks for a plan
 * and has it carried out (`DeploymentWriter`). One sync makes one step; the change of a replica set
 * brings the next.
 */
import { controllerOf, isControlledBy } from '@orch/apimachinery';
import {
  type EventRecorder,
  type Informer,
  keyOf,
  objectKey,
  resources,
  type WorkQueue,
} from '@orch/client';
import type { Deployment, ReplicaSet } from '@orch/types/apps/v1';
import type { Pod } from '@orch/types/core/v1';
import { claim } from '../common/claimer.js';
import { candidatesOf, controlledBy, indexOwned } from '../common/owned.js';
import { replaceStatus } from '../common/replace-status.js';
import { selectorOf } from '../common/selectors.js';
import {
  type Controller,
  type ControllerContext,
  queueFor,
  workOff,
} from '../manager/controller.js';
import { DeploymentWriter } from './deployment-writer.js';
import { rollbackOf } from './rollback.js';
import { rolloutOf } from './rollout.js';
import { planRollout } from './rollout-plan.js';
import { pauseConditions } from './status.js';

const ownerType = { apiVersion: 'apps/v1', kind: 'Deployment' } as const;

export class DeploymentController implements Controller {
  private readonly deployments: Informer<Deployment>;
  private readonly replicaSets: Informer<ReplicaSet>;
  private readonly pods: Informer<Pod>;
  private readonly queue: WorkQueue;
  private readonly recorder: EventRecorder;
  private readonly writer: DeploymentWriter;

  constructor(
    private readonly context: ControllerContext,
    private readonly workerCount: number,
  ) {
    this.deployments = context.informers.informer(resources.deployments);
    this.replicaSets = context.informers.informer(resources.replicaSets);
    this.pods = context.informers.informer(resources.pods);
    this.queue = queueFor(context, 'deployment');
    this.recorder = context.recorder('deployment-controller');
    this.writer = new DeploymentWriter(context.client, this.recorder, context.clock);
    indexOwned(this.replicaSets);
    indexOwned(this.pods);
    this.deployments.addHandlers({
      onAdd: (one) => this.queue.add(objectKey(one)),
      onUpdate: (one) => this.queue.add(objectKey(one)),
      onDelete: (one) => this.queue.add(objectKey(one)),
    });
    this.replicaSets.addHandlers({
      onAdd: (one) => this.replicaSetChanged(one),
      onUpdate: (one, old) => {
        if (controllerOf(old)?.uid !== controllerOf(one)?.uid) this.replicaSetChanged(old);
        this.replicaSetChanged(one);
      },
      onDelete: (one) => this.replicaSetChanged(one),
    });
    this.pods.addHandlers({ onDelete: (pod) => this.podDeleted(pod) });
  }

  run(signal: AbortSignal): Promise<void> {
    return workOff(this.queue, this.workerCount, signal, (key) => this.reconcile(key));
  }

  private async reconcile(key: string): Promise<number | undefined> {
    const cached = this.deployments.lister.get(key);
    if (!cached) return undefined;
    const deployment: Deployment = { ...cached, ...ownerType };
    if (this.selectsEverything(deployment)) return this.refuse(deployment);
    const rollout = rolloutOf(deployment, await this.claimReplicaSets(deployment));
    const nowMs = this.context.clock.nowMs();
    const conditions = pauseConditions(deployment, nowMs);
    if (deployment.metadata?.deletionTimestamp) {
      return this.writer.writeStatus(rollout, conditions, false);
    }
    const rollback = rollbackOf(rollout);
    if (rollback) {
      await this.writer.deploymentsIn(deployment).replace(rollback.deployment);
      const { type, reason, message } = rollback.event;
      this.recorder.event(deployment, type, reason, message);
      return undefined;
    }
    const plan = planRollout(rollout, (one) => controlledBy(this.pods, one.metadata?.uid ?? ''));
    if (plan.create) return this.writer.createAndTell(rollout, plan.create, conditions);
    const next = await this.writer.carryOut(rollout, plan);
    return this.writer.writeStatus(
      next,
      this.writer.foundConditions(next, conditions),
      plan.isRollout,
    );
  }

  private selectsEverything(deployment: Deployment): boolean {
    return selectorOf(deployment).everything;
  }

  private async refuse(deployment: Deployment): Promise<undefined> {
    const message = 'This deployment is selecting all pods. A non-empty selector is required.';
    this.recorder.event(deployment, 'Warning', 'SelectingAll', message);
    const observedGeneration = deployment.metadata?.generation ?? 0;
    await replaceStatus(this.writer.deploymentsIn(deployment), deployment, (current) =>
      current.status?.observedGeneration === observedGeneration
        ? undefined
        : { ...current, status: { ...current.status, observedGeneration } },
    );
    return undefined;
  }

  private claimReplicaSets(deployment: Deployment): Promise<ReplicaSet[]> {
    return claim({
      client: this.context.client,
      owner: deployment,
      ownerResource: resources.deployments,
      ownerType,
      selector: selectorOf(deployment),
      dependentResource: resources.replicaSets,
      candidates: candidatesOf(this.replicaSets, deployment),
    });
  }

  private replicaSetChanged(replicaSet: ReplicaSet): void {
    const owner = this.ownerKey(replicaSet);
    if (owner !== undefined) {
      this.queue.add(owner);
      return;
    }
    if (controllerOf(replicaSet)) return;
    for (const one of this.deployments.lister.list(replicaSet.metadata?.namespace ?? '')) {
      if (selectorOf(one).matches(replicaSet.metadata?.labels)) this.queue.add(objectKey(one));
    }
  }

  private ownerKey(replicaSet: ReplicaSet): string | undefined {
    const controller = controllerOf(replicaSet);
    if (controller?.kind !== ownerType.kind) return undefined;
    const key = keyOf(replicaSet.metadata?.namespace, controller.name ?? '');
    const owner = this.deployments.lister.get(key);
    return owner && isControlledBy(replicaSet, owner) ? key : undefined;
  }

  /** A recreation waits for the last old pod to be gone. */
  private podDeleted(pod: Pod): void {
    const controller = controllerOf(pod);
    if (controller?.kind !== 'ReplicaSet') return;
    const key = keyOf(pod.metadata?.namespace, controller.name ?? '');
    const replicaSet = this.replicaSets.lister.get(key);
    const owner = replicaSet && this.ownerKey(replicaSet);
    if (owner === undefined) return;
    const isRecreate = this.deployments.lister.get(owner)?.spec?.strategy?.type === 'Recreate';
    if (isRecreate) this.queue.add(owner);
  }
}
