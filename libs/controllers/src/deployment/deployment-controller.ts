/**
 * Rolls out deployments. The shell around `planRollout`: claims the replica sets, plans, and
 * applies the plan with `DeploymentWriter`. One reconciliation does one step; the changed replica
 * set enqueues the next.
 */
import { controllerOf } from '@orch/apimachinery';
import { type EventRecorder, type Informer, keyOf, objectKey, resources } from '@orch/client';
import type { Deployment, DeploymentCondition, ReplicaSet } from '@orch/types/apps/v1';
import type { Pod } from '@orch/types/core/v1';
import { claim } from '../common/claimer.js';
import {
  type ControllerContext,
  type ControllerFactory,
  done,
  type ReconcileResult,
} from '../common/controller.js';
import { controller } from '../common/controller-builder.js';
import {
  cachedOwner,
  claimCandidates,
  dependentsOf,
  indexDependents,
} from '../common/dependents.js';
import { replaceStatus } from '../common/replace-status.js';
import { isChanged, SelectorOverlap } from '../common/selector-overlap.js';
import { selectorOf } from '../common/selectors.js';
import { never } from '../common/watches.js';
import { DeploymentWriter } from './deployment-writer.js';
import { rollbackOf } from './rollback.js';
import { type Rollout, rolloutOf } from './rollout.js';
import { planRollout } from './rollout-plan.js';
import { isComplete, pauseConditions } from './status.js';

export const deploymentController: ControllerFactory = (context, options) => {
  const reconciler = new DeploymentReconciler(context);
  const builder = controller('deployment', context);
  return builder
    .workers(options.deploymentSyncs)
    .every(options.deploymentSyncPeriodMs, async () => {
      for (const key of reconciler.incompleteKeys()) builder.queue.add(key);
    })
    .for(resources.deployments)
    .owns(resources.replicaSets, { selector: selectorOf })
    .watches(resources.pods, (pod) => reconciler.recreatedDeployments(pod), {
      create: never,
      update: never,
    })
    .reconcile((key) => reconciler.reconcile(key));
};

class DeploymentReconciler {
  private readonly deployments: Informer<Deployment>;
  private readonly replicaSets: Informer<ReplicaSet>;
  private readonly pods: Informer<Pod>;
  private readonly recorder: EventRecorder;
  private readonly writer: DeploymentWriter;
  private readonly overlap: SelectorOverlap<Deployment>;

  constructor(private readonly context: ControllerContext) {
    this.deployments = context.informers.informer(resources.deployments);
    this.replicaSets = context.informers.informer(resources.replicaSets);
    this.pods = context.informers.informer(resources.pods);
    this.recorder = context.recorder('deployment-controller');
    this.writer = new DeploymentWriter(context.client, this.recorder, context.clock);
    this.overlap = new SelectorOverlap(this.deployments, this.recorder, selectorOf);
    indexDependents(this.pods);
  }

  incompleteKeys(): string[] {
    const { lister } = this.deployments;
    return lister
      .list()
      .filter((deployment) => !isComplete(deployment, deployment.status))
      .map(objectKey);
  }

  /** A deployment with the strategy Recreate waits for the deletion of its last old pod. */
  recreatedDeployments(deleted: Pod): string[] {
    const replicaSet = controllerOf(deleted);
    if (replicaSet?.kind !== resources.replicaSets.kind) return [];
    const key = keyOf(deleted.metadata?.namespace, replicaSet.name ?? '');
    const cached = this.replicaSets.lister.get(key);
    const owner = cached && cachedOwner(this.deployments, resources.deployments.kind, cached);
    return owner?.spec?.strategy?.type === 'Recreate' ? [objectKey(owner)] : [];
  }

  async reconcile(key: string): Promise<ReconcileResult> {
    const cached = this.deployments.lister.get(key);
    if (!cached) return done;
    const deployment: Deployment = { ...cached, apiVersion: 'apps/v1', kind: 'Deployment' };
    if (selectorOf(deployment).everything) return this.rejectSelector(deployment);
    if (isChanged(deployment)) this.overlap.report(deployment);
    const rollout = rolloutOf(deployment, await this.claimReplicaSets(deployment));
    const conditions = pauseConditions(deployment, this.context.clock.nowMs());
    if (deployment.metadata?.deletionTimestamp) {
      return this.writer.writeStatus(rollout, conditions, false);
    }
    const rollback = rollbackOf(rollout);
    if (!rollback) return this.rollOut(rollout, conditions);
    await this.writer.deploymentsIn(deployment).replace(rollback.deployment);
    const { type, reason, message } = rollback.event;
    this.recorder.event(deployment, type, reason, message);
    return done;
  }

  private async rollOut(
    rollout: Rollout,
    conditions: readonly DeploymentCondition[],
  ): Promise<ReconcileResult> {
    const plan = planRollout(rollout, ({ metadata }) =>
      dependentsOf(this.pods, metadata?.uid ?? ''),
    );
    if (plan.create) return this.writer.createReplicaSet(rollout, plan.create, conditions);
    const applied = await this.writer.applyPlan(rollout, plan);
    const found = this.writer.foundConditions(applied, conditions);
    return this.writer.writeStatus(applied, found, plan.isRollout);
  }

  private async rejectSelector(deployment: Deployment): Promise<ReconcileResult> {
    const message = 'This deployment is selecting all pods. A non-empty selector is required.';
    this.recorder.event(deployment, 'Warning', 'SelectingAll', message);
    const observedGeneration = deployment.metadata?.generation ?? 0;
    await replaceStatus(this.writer.deploymentsIn(deployment), deployment, (current) =>
      current.status?.observedGeneration === observedGeneration
        ? undefined
        : { ...current, status: { ...current.status, observedGeneration } },
    );
    return done;
  }

  private claimReplicaSets(deployment: Deployment): Promise<ReplicaSet[]> {
    return claim({
      client: this.context.client,
      owner: deployment,
      ownerResource: resources.deployments,
      selector: selectorOf(deployment),
      dependentResource: resources.replicaSets,
      candidates: claimCandidates(this.replicaSets, deployment),
    });
  }
}
