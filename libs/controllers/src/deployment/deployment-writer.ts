/**
 * Applies a rollout plan: creates, scales and deletes replica sets, records events, writes the
 * status.
 */
import { conditionOf, isControlledBy } from '@orch/apimachinery';
import {
  type ApiClient,
  type EventRecorder,
  isAlreadyExists,
  isConflict,
  isNamespaceTerminating,
  isNotFound,
  type ResourceClient,
  resources,
} from '@orch/client';
import type { Clock } from '@orch/component';
import type { Deployment, DeploymentCondition, ReplicaSet } from '@orch/types/apps/v1';
import type { ConditionFacts } from '../common/conditions.js';
import { done, type ReconcileResult } from '../common/controller.js';
import { ignoring, messageOf } from '../common/expected-errors.js';
import { revisionKey, revisionOf } from './annotations.js';
import { allOf, type Rollout, sameTemplate, sizeOf } from './rollout.js';
import type { RolloutPlan } from './rollout-plan.js';
import {
  countedStatus,
  hasProgressDeadline,
  isSameStatus,
  progressCheckMs,
  rolloutStatus,
  withCondition,
} from './status.js';

const conflictRetryMs = 1_000;

export class DeploymentWriter {
  constructor(
    private readonly client: ApiClient,
    private readonly recorder: EventRecorder,
    private readonly clock: Clock,
  ) {}

  deploymentsIn(deployment: Deployment): ResourceClient<Deployment> {
    return this.client.resource(resources.deployments, deployment.metadata?.namespace);
  }

  private replicaSetsIn(deployment: Deployment): ResourceClient<ReplicaSet> {
    return this.client.resource(resources.replicaSets, deployment.metadata?.namespace);
  }

  /**
   * Creates the replica set of a new template. If its name is taken by another replica set, the
   * collision count grows and the next reconciliation chooses another name.
   */
  async createReplicaSet(
    rollout: Rollout,
    wanted: ReplicaSet,
    conditions: readonly DeploymentCondition[],
  ): Promise<ReconcileResult> {
    const { deployment } = rollout;
    const name = wanted.metadata?.name ?? '';
    let current: ReplicaSet;
    try {
      current = await this.replicaSetsIn(deployment).create(wanted);
    } catch (error) {
      if (isNamespaceTerminating(error)) return done;
      if (!isAlreadyExists(error)) return this.creationFailed(rollout, name, conditions, error);
      const existing = await this.replicaSetsIn(deployment).get(name);
      if (
        !isControlledBy(existing, deployment) ||
        !sameTemplate(existing.spec?.template, wanted.spec?.template)
      ) {
        await this.avoidName(deployment);
        throw error;
      }
      // Created by an earlier reconciliation; the cache has not seen it yet.
      return done;
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
    const message = `Failed to create new replica set "${name}": ${messageOf(error)}`;
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

  /** Makes the next reconciliation choose another name for the same template. */
  private async avoidName(deployment: Deployment): Promise<void> {
    const collisionCount = (deployment.status?.collisionCount ?? 0) + 1;
    await this.deploymentsIn(deployment).replaceStatus({
      ...deployment,
      status: { ...deployment.status, collisionCount },
    });
  }

  /** Scales and deletes replica sets. @returns the rollout after the plan. */
  async applyPlan(rollout: Rollout, plan: RolloutPlan): Promise<Rollout> {
    const { deployment } = rollout;
    const written = new Map<string, ReplicaSet>();
    for (const desired of plan.changes) {
      const uid = desired.metadata?.uid ?? '';
      const before = allOf(rollout).find(({ metadata }) => metadata?.uid === uid);
      written.set(uid, await this.replicaSetsIn(deployment).replace(desired));
      const from = before ? sizeOf(before) : 0;
      const to = sizeOf(desired);
      if (from === to) continue;
      const direction = to > from ? 'up' : 'down';
      const message = `Scaled ${direction} replica set ${desired.metadata?.name} to ${to}`;
      this.recorder.event(deployment, 'Normal', 'ScalingReplicaSet', message);
    }
    for (const expired of plan.expired) await this.deleteExpired(deployment, expired);
    const latest = (replicaSet: ReplicaSet) =>
      written.get(replicaSet.metadata?.uid ?? '') ?? replicaSet;
    return {
      deployment,
      current: rollout.current && latest(rollout.current),
      old: rollout.old.filter((replicaSet) => !plan.expired.includes(replicaSet)).map(latest),
    };
  }

  private async deleteExpired(deployment: Deployment, expired: ReplicaSet): Promise<void> {
    const { name = '', uid } = expired.metadata ?? {};
    const deletion = this.replicaSetsIn(deployment).delete(name, { preconditions: { uid } });
    await ignoring(deletion, isNotFound);
  }

  /** Adds the condition Progressing, with the replica set found, if the deployment has none yet. */
  foundConditions(
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
    return withCondition(conditions, facts, this.clock.nowMs());
  }

  /** Writes the status. @returns when to check the progress of the rollout again. */
  async writeStatus(
    rollout: Rollout,
    conditions: readonly DeploymentCondition[],
    isRollout: boolean,
  ): Promise<ReconcileResult> {
    const { deployment } = rollout;
    const nowMs = this.clock.nowMs();
    const status = isRollout
      ? rolloutStatus(rollout, conditions, nowMs)
      : countedStatus(rollout, conditions, nowMs);
    const metadata = metadataWithRevision(rollout);
    const isSame = metadata === deployment.metadata && isSameStatus(deployment.status, status);
    if (!isSame) {
      try {
        await this.deploymentsIn(deployment).replaceStatus({ ...deployment, metadata, status });
      } catch (error) {
        if (isNotFound(error)) return done;
        // The informer delivers the newer object and enqueues it.
        if (!isConflict(error)) throw error;
        return { requeueAfterMs: conflictRetryMs };
      }
    }
    const checkAfterMs = isRollout ? progressCheckMs(deployment, status, nowMs) : undefined;
    return checkAfterMs === undefined ? done : { requeueAfterMs: checkAfterMs };
  }
}

/**
 * The metadata with the revision of the current replica set; the same object if it has it already.
 */
function metadataWithRevision({ deployment, current }: Rollout): Deployment['metadata'] {
  const { metadata } = deployment;
  const revision = current ? revisionOf(current) : 0;
  if (revision === 0 || revisionOf(deployment) === revision) return metadata;
  const annotations = { ...metadata?.annotations, [revisionKey()]: String(revision) };
  return { ...metadata, annotations };
}
