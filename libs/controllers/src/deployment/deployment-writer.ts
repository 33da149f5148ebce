/**
 * Carries out what was decided about a deployment: makes, resizes and deletes replica sets, tells of it
 * by events, and writes the status.
 */
import { conditionOf, isControlledBy, semanticallyEqual } from '@orch/apimachinery';
import {
  type EventRecorder,
  isAlreadyExists,
  isConflict,
  isNamespaceTerminating,
  isNotFound,
  type ResourceClient,
  type RestClient,
  resources,
} from '@orch/client';
import type { Clock } from '@orch/component';
import type { Deployment, DeploymentCondition, ReplicaSet } from '@orch/types/apps/v1';
import type { ConditionFacts } from '../common/conditions.js';
import { revisionKey, revisionOf } from './annotations.js';
import { allOf, type Rollout, sameTemplate, sizeOf } from './rollout.js';
import type { RolloutPlan } from './rollout-plan.js';
import {
  countedStatus,
  hasProgressDeadline,
  progressCheckMs,
  rolloutStatus,
  withCondition,
} from './status.js';

export class DeploymentWriter {
  constructor(
    private readonly client: RestClient,
    private readonly recorder: EventRecorder,
    private readonly clock: Clock,
  ) {}

  deploymentsIn(deployment: Deployment): ResourceClient<Deployment> {
    return this.client.resource(resources.deployments, deployment.metadata?.namespace);
  }

  private replicaSetsIn(deployment: Deployment): ResourceClient<ReplicaSet> {
    return this.client.resource(resources.replicaSets, deployment.metadata?.namespace);
  }

  /** Makes the replica set of a new template. One that is there already is taken, or avoided. */
  async createAndTell(
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
  async carryOut(rollout: Rollout, plan: RolloutPlan): Promise<Rollout> {
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

  /** A rollout whose progress nobody has noted yet starts with what was found. */
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

  /** @returns when to look again at a rollout that does not move. */
  async writeStatus(
    rollout: Rollout,
    conditions: readonly DeploymentCondition[],
    isRollout: boolean,
  ): Promise<number | undefined> {
    const { deployment } = rollout;
    const nowMs = this.clock.nowMs();
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
}

/** The deployment carries the revision of its present replica set; its own generation stays as it is. */
function metadataWithRevision({ deployment, current }: Rollout): Deployment['metadata'] {
  const { metadata } = deployment;
  const revision = current ? revisionOf(current) : 0;
  if (revision === 0 || revisionOf(deployment) === revision) return metadata;
  const annotations = { ...metadata?.annotations, [revisionKey()]: String(revision) };
  return { ...metadata, annotations };
}
