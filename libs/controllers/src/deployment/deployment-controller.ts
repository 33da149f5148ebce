/**
 * Rolls deployments out. The shell around `planRollout`: it claims the replica sets, carries a plan out
 * and writes the status. One sync makes one step; the change of a replica set brings the next.
 */
import {
  controllerOf,
  isControlledBy,
  labelSelectorFromObject,
  semanticallyEqual,
} from '@orch/apimachinery';
import {
  type EventRecorder,
  type Informer,
  isAlreadyExists,
  isConflict,
  isNamespaceTerminating,
  isNotFound,
  keyOf,
  objectKey,
  type ResourceClient,
  resources,
  type WorkQueue,
} from '@orch/client';
import type { Deployment, DeploymentCondition, ReplicaSet } from '@orch/types/apps/v1';
import type { Pod } from '@orch/types/core/v1';
import { claim } from '../common/claimer.js';
import type { ConditionFacts } from '../common/conditions.js';
import { conditionOf } from '../common/conditions.js';
import { candidatesOf, controlledBy, indexOwned } from '../common/owned.js';
import { replaceStatus } from '../common/replace-status.js';
import {
  type Controller,
  type ControllerContext,
  queueFor,
  workOff,
} from '../manager/controller.js';
import { revisionKey, revisionOf } from './annotations.js';
import { rollbackOf } from './rollback.js';
import { allOf, type Rollout, rolloutOf, sameTemplate, sizeOf } from './rollout.js';
import { planRollout, type RolloutPlan } from './rollout-plan.js';
import {
  countedStatus,
  hasProgressDeadline,
  pauseConditions,
  progressCheckMs,
  rolloutStatus,
  withCondition,
} from './status.js';

const ownerType = { apiVersion: 'apps/v1', kind: 'Deployment' } as const;

export class DeploymentController implements Controller {
  private readonly deployments: Informer<Deployment>;
  private readonly replicaSets: Informer<ReplicaSet>;
  private readonly pods: Informer<Pod>;
  private readonly queue: WorkQueue;
  private readonly recorder: EventRecorder;

  constructor(
    private readonly context: ControllerContext,
    private readonly workerCount: number,
  ) {
    this.deployments = context.informers.informer(resources.deployments);
    this.replicaSets = context.informers.informer(resources.replicaSets);
    this.pods = context.informers.informer(resources.pods);
    this.queue = queueFor(context, 'deployment');
    this.recorder = context.recorder('deployment-controller');
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
      return this.writeStatus(rollout, conditions, false);
    }
    const rollback = rollbackOf(rollout);
    if (rollback) {
      await this.deploymentsIn(deployment).replace(rollback.deployment);
      const { type, reason, message } = rollback.event;
      this.recorder.event(deployment, type, reason, message);
      return undefined;
    }
    const plan = planRollout(rollout, (one) => controlledBy(this.pods, one.metadata?.uid ?? ''));
    if (plan.create) return this.createAndTell(rollout, plan.create, conditions);
    const next = await this.carryOut(rollout, plan);
    return this.writeStatus(next, this.foundConditions(next, conditions), plan.isRollout);
  }

  private deploymentsIn(deployment: Deployment): ResourceClient<Deployment> {
    return this.context.client.resource(resources.deployments, deployment.metadata?.namespace);
  }

  private replicaSetsIn(deployment: Deployment): ResourceClient<ReplicaSet> {
    return this.context.client.resource(resources.replicaSets, deployment.metadata?.namespace);
  }

  private selectsEverything(deployment: Deployment): boolean {
    return labelSelectorFromObject(deployment.spec?.selector).everything;
  }

  private async refuse(deployment: Deployment): Promise<undefined> {
    const message = 'This deployment is selecting all pods. A non-empty selector is required.';
    this.recorder.event(deployment, 'Warning', 'SelectingAll', message);
    const observedGeneration = deployment.metadata?.generation ?? 0;
    await replaceStatus(this.deploymentsIn(deployment), deployment, (current) =>
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
      selector: labelSelectorFromObject(deployment.spec?.selector),
      dependentResource: resources.replicaSets,
      candidates: candidatesOf(this.replicaSets, deployment),
    });
  }

  /** Makes the replica set of a new template. One that is there already is taken, or avoided. */
  private async createAndTell(
    rollout: Rollout,
    wanted: ReplicaSet,
    conditions: readonly DeploymentCondition[],
  ): Promise<number | undefined> {
    const { deployment } = rollout;
    const name = wanted.metadata?.name ?? '';
    let current: ReplicaSet;
    try {
      current = await this.replicaSetsIn(deployment).create(wanted);
    } catch (error) {
      if (isNamespaceTerminating(error)) return undefined;
      if (!isAlreadyExists(error)) return this.creationFailed(rollout, name, conditions, error);
      const existing = await this.replicaSetsIn(deployment).get(name);
      if (
        !isControlledBy(existing, deployment) ||
        !sameTemplate(existing.spec?.template, wanted.spec?.template)
      ) {
        await this.avoidName(deployment);
        throw error;
      }
      // An earlier sync made it and the cache has not seen it yet.
      return undefined;
    }
    const replicas = sizeOf(current);
    if (replicas > 0) {
      const message = `Scaled up replica set ${name} to ${replicas}`;
      this.recorder.event(deployment, 'Normal', 'ScalingReplicaSet', message);
    }
    const next: Rollout = { ...rollout, current };
    const message = `Created new replica set "${name}"`;
    return this.writeStatus(
      next,
      this.noteProgress(deployment, conditions, 'True', 'NewReplicaSetCreated', message),
      true,
    );
  }

  private async creationFailed(
    rollout: Rollout,
    name: string,
    conditions: readonly DeploymentCondition[],
    error: unknown,
  ): Promise<never> {
    const { deployment } = rollout;
    const cause = error instanceof Error ? error.message : String(error);
    const message = `Failed to create new replica set "${name}": ${cause}`;
    this.recorder.event(deployment, 'Warning', 'ReplicaSetCreateError', message);
    const noted = this.noteProgress(
      deployment,
      conditions,
      'False',
      'ReplicaSetCreateError',
      message,
    );
    await this.writeStatus(rollout, noted, false);
    throw error;
  }

  /** The next sync takes another name for the same template. */
  private async avoidName(deployment: Deployment): Promise<void> {
    const collisionCount = (deployment.status?.collisionCount ?? 0) + 1;
    await this.deploymentsIn(deployment).replaceStatus({
      ...deployment,
      status: { ...deployment.status, collisionCount },
    });
  }

  /** @returns the rollout as it is after the plan. */
  private async carryOut(rollout: Rollout, plan: RolloutPlan): Promise<Rollout> {
    const { deployment } = rollout;
    const written = new Map<string, ReplicaSet>();
    for (const desired of plan.changes) {
      const uid = desired.metadata?.uid ?? '';
      const before = allOf(rollout).find((one) => one.metadata?.uid === uid);
      written.set(uid, await this.replicaSetsIn(deployment).replace(desired));
      const from = before ? sizeOf(before) : 0;
      const to = sizeOf(desired);
      if (from === to) continue;
      const direction = to > from ? 'up' : 'down';
      const message = `Scaled ${direction} replica set ${desired.metadata?.name} to ${to}`;
      this.recorder.event(deployment, 'Normal', 'ScalingReplicaSet', message);
    }
    for (const expired of plan.expired) await this.deleteExpired(deployment, expired);
    const latest = (one: ReplicaSet) => written.get(one.metadata?.uid ?? '') ?? one;
    const next: Rollout = {
      deployment,
      current: rollout.current && latest(rollout.current),
      old: rollout.old.filter((one) => !plan.expired.includes(one)).map(latest),
    };
    return next;
  }

  private async deleteExpired(deployment: Deployment, expired: ReplicaSet): Promise<void> {
    const { name = '', uid } = expired.metadata ?? {};
    try {
      await this.replicaSetsIn(deployment).delete(name, { preconditions: { uid } });
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
  }

  private foundConditions(
    rollout: Rollout,
    conditions: readonly DeploymentCondition[],
  ): readonly DeploymentCondition[] {
    if (!rollout.current || conditionOf(conditions, 'Progressing')) return conditions;
    const message = `Found new replica set "${rollout.current.metadata?.name}"`;
    const { deployment } = rollout;
    return this.noteProgress(deployment, conditions, 'True', 'FoundNewReplicaSet', message);
  }

  private noteProgress(
    deployment: Deployment,
    conditions: readonly DeploymentCondition[],
    status: string,
    reason: string,
    message: string,
  ): readonly DeploymentCondition[] {
    if (!hasProgressDeadline(deployment)) return conditions;
    const facts: ConditionFacts = { type: 'Progressing', status, reason, message };
    return withCondition(conditions, facts, this.context.clock.nowMs());
  }

  /** @returns when to look again at a rollout that does not move. */
  private async writeStatus(
    rollout: Rollout,
    conditions: readonly DeploymentCondition[],
    isRollout: boolean,
  ): Promise<number | undefined> {
    const { deployment } = rollout;
    const nowMs = this.context.clock.nowMs();
    const status = isRollout
      ? rolloutStatus(rollout, conditions, nowMs)
      : countedStatus(rollout, conditions, nowMs);
    const metadata = metadataWithRevision(rollout);
    const isSame =
      metadata === deployment.metadata && semanticallyEqual(deployment.status ?? {}, status);
    if (!isSame) {
      try {
        await this.deploymentsIn(deployment).replaceStatus({ ...deployment, metadata, status });
      } catch (error) {
        if (isNotFound(error)) return undefined;
        // The informer brings the newer object, and with it the next sync.
        if (!isConflict(error)) throw error;
        return 1_000;
      }
    }
    return isRollout ? progressCheckMs(deployment, status, nowMs) : undefined;
  }

  private replicaSetChanged(replicaSet: ReplicaSet): void {
    const owner = this.ownerKey(replicaSet);
    if (owner !== undefined) {
      this.queue.add(owner);
      return;
    }
    if (controllerOf(replicaSet)) return;
    for (const one of this.deployments.lister.list(replicaSet.metadata?.namespace ?? '')) {
      const selector = labelSelectorFromObject(one.spec?.selector);
      if (selector.matches(replicaSet.metadata?.labels)) this.queue.add(objectKey(one));
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

/** The deployment carries the revision of its present replica set; its own generation stays as it is. */
function metadataWithRevision({ deployment, current }: Rollout): Deployment['metadata'] {
  const { metadata } = deployment;
  const revision = current ? revisionOf(current) : 0;
  if (revision === 0 || revisionOf(deployment) === revision) return metadata;
  const annotations = { ...metadata?.annotations, [revisionKey()]: String(revision) };
  return { ...metadata, annotations };
}
