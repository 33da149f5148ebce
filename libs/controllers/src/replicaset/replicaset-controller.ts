/**
 * Creates and deletes pods until each replica set and each replication controller has as many as it
 * specifies. The shell around `planReplicas`. The cache may lag behind, so that a reconciliation
 * plans nothing while requests of an earlier one have not appeared in it (`Expectations`).
 */
import { controllerOf, type LabelSelector } from '@orch/apimachinery';
import { type EventRecorder, type Informer, type KnownResource, resources } from '@orch/client';
import { dialect } from '@orch/component';
import type { Pod } from '@orch/types/core/v1';
import { claim } from '../common/claimer.js';
import {
  type Controller,
  type ControllerContext,
  type ControllerFactory,
  done,
  type ReconcileResult,
} from '../common/controller.js';
import { controller } from '../common/controller-builder.js';
import type { DeletionRules } from '../common/deletion-order.js';
import { claimCandidates, dependentsOf } from '../common/dependents.js';
import { Expectations } from '../common/expectations.js';
import { messageOf } from '../common/expected-errors.js';
import { PodControl } from '../common/pod-control.js';
import { podFromTemplate } from '../common/pod-template.js';
import { availableAfterMs, isPodActive } from '../common/pods.js';
import { replaceStatus } from '../common/replace-status.js';
import { isChanged, SelectorOverlap } from '../common/selector-overlap.js';
import { mapSelectorOf, selectorOf } from '../common/selectors.js';
import { limits } from '../limits.js';
import {
  concernsReplicas,
  planReplicas,
  type ReplicaFailure,
  type ReplicaOwner,
  type ReplicaPlan,
  replicaSetStatus,
  sameStatus,
} from './replicaset-plan.js';

/** What differs between the kinds whose pods are counted. */
interface ReplicaKind<T extends ReplicaOwner> {
  readonly queueName: string;
  readonly resource: KnownResource<T>;
  /** The source of the events. */
  readonly component: string;
  readonly selectorOf: (owner: T) => LabelSelector;
  readonly workerCount: number;
}

export const replicaSetController: ControllerFactory = (context, options) =>
  replicaController(context, {
    queueName: 'replicaset',
    resource: resources.replicaSets,
    component: 'replicaset-controller',
    selectorOf,
    workerCount: options.replicaSetSyncs,
  });

export const replicationController: ControllerFactory = (context, options) =>
  replicaController(context, {
    queueName: 'replicationmanager',
    resource: resources.replicationControllers,
    component: 'replication-controller',
    selectorOf: mapSelectorOf,
    workerCount: options.replicationControllerSyncs,
  });

function replicaController<T extends ReplicaOwner>(
  context: ControllerContext,
  kind: ReplicaKind<T>,
): Controller {
  const expectations = new Expectations(context.clock);
  const reconciler = new ReplicaReconciler(context, kind, expectations);
  return controller(kind.queueName, context)
    .workers(kind.workerCount)
    .for(kind.resource)
    .owns(resources.pods, {
      selector: kind.selectorOf,
      expectations,
      concernsOwner: concernsReplicas,
      requeueAfterMs: ({ spec }, pod, old) => availableAfterMs(spec?.minReadySeconds, pod, old),
    })
    .reconcile((key) => reconciler.reconcile(key));
}

class ReplicaReconciler<T extends ReplicaOwner> {
  private readonly owners: Informer<T>;
  private readonly pods: Informer<Pod>;
  private readonly control: PodControl;
  private readonly overlap: SelectorOverlap<T>;

  constructor(
    private readonly context: ControllerContext,
    private readonly kind: ReplicaKind<T>,
    private readonly expectations: Expectations,
  ) {
    this.owners = context.informers.informer(kind.resource);
    this.pods = context.informers.informer(resources.pods);
    const recorder: EventRecorder = context.recorder(kind.component);
    this.control = new PodControl(context, recorder, expectations);
    this.overlap = new SelectorOverlap(this.owners, recorder, kind.selectorOf);
  }

  async reconcile(key: string): Promise<ReconcileResult> {
    const owner = this.owners.lister.get(key);
    if (!owner) return done;
    const isCacheCurrent = this.expectations.satisfied(key);
    // A status for each of many new pods would be stale when it is written.
    if (!isCacheCurrent && this.expectations.ageMs(key) < limits.replicaStatusDelayMs) {
      return { requeueAfterMs: limits.replicaStatusDelayMs };
    }
    if (isChanged(owner)) this.overlap.report(this.withKind(owner));
    const pods = await this.claimPods(owner);
    let error: unknown;
    let failure: ReplicaFailure | undefined;
    if (isCacheCurrent && !owner.metadata?.deletionTimestamp) {
      const plan = planReplicas(owner, pods, () => this.relatedPods(owner), this.rules());
      error = await this.applyPlan(owner, plan);
      if (error !== undefined) {
        const reason = plan.createCount > 0 ? 'FailedCreate' : 'FailedDelete';
        failure = { reason, message: messageOf(error) };
      }
    }
    const status = await this.writeStatus(owner, pods, failure);
    if (error !== undefined) throw error;
    const minReadySeconds = owner.spec?.minReadySeconds ?? 0;
    const isWaiting = (status?.readyReplicas ?? 0) !== (status?.availableReplicas ?? 0);
    return minReadySeconds > 0 && isWaiting ? { requeueAfterMs: minReadySeconds * 1000 } : done;
  }

  private withKind(owner: T): T {
    const { group, version, kind } = this.kind.resource;
    return { ...owner, apiVersion: dialect().apiVersion(group, version), kind };
  }

  private rules(): DeletionRules {
    const { features, clock } = this.context;
    return {
      byCost: features.enabled('PodDeletionCost'),
      byLogarithmicAge: features.enabled('LogarithmicScaleDown'),
      nowMs: clock.nowMs(),
    };
  }

  private claimPods(owner: T): Promise<Pod[]> {
    return claim({
      client: this.context.client,
      owner,
      ownerResource: this.kind.resource,
      selector: this.kind.selectorOf(owner),
      dependentResource: resources.pods,
      candidates: claimCandidates(this.pods, owner).filter(isPodActive),
    });
  }

  /** Pods of all replica sets of the same deployment. */
  private relatedPods(replicas: T): Pod[] {
    const owner = controllerOf(replicas);
    const siblings = owner ? dependentsOf(this.owners, owner.uid ?? '') : [replicas];
    return siblings.flatMap(({ metadata }) => dependentsOf(this.pods, metadata?.uid ?? ''));
  }

  /** @returns the first failure, if any. */
  private async applyPlan(replicas: T, plan: ReplicaPlan): Promise<unknown> {
    if (plan.createCount === 0 && plan.deletions.length === 0) return undefined;
    const owner = this.withKind(replicas);
    const { createError, deleteError } = await this.control.apply(owner, {
      creations: Array.from({ length: plan.createCount }, () =>
        podFromTemplate(owner, owner.spec?.template),
      ),
      deletions: plan.deletions,
    });
    return createError ?? deleteError;
  }

  private async writeStatus(
    owner: T,
    pods: readonly Pod[],
    failure: ReplicaFailure | undefined,
  ): Promise<T['status']> {
    const { client, clock } = this.context;
    const nowMs = clock.nowMs();
    const written = await replaceStatus(
      client.resource(this.kind.resource, owner.metadata?.namespace),
      owner,
      (current) => {
        const observed = { ...current, metadata: { ...current.metadata } };
        observed.metadata.generation = owner.metadata?.generation;
        const status = replicaSetStatus(observed, pods, failure, nowMs);
        return sameStatus(current.status, status) ? undefined : { ...current, status };
      },
    );
    return written.status;
  }
}
