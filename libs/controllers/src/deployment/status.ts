/** What a deployment's status says about a rollout, in the known words. Pure. */
import { conditionOf, formatTime, parseTime, semanticallyEqual } from '@orch/apimachinery';
import type {
  Deployment,
  DeploymentCondition,
  DeploymentStatus,
  ReplicaSet,
} from '@orch/types/apps/v1';
import { type ConditionFacts, withoutCondition } from '../common/conditions.js';
import { boundsOf, wantedReplicas } from './bounds.js';
import { allOf, availableOf, type Rollout, sizeOf, sum } from './rollout.js';

type Conditions = readonly DeploymentCondition[];

/** The largest deadline means no deadline. */
const noDeadline = 2 ** 31 - 1;

export function hasProgressDeadline(deployment: Deployment): boolean {
  const seconds = deployment.spec?.progressDeadlineSeconds;
  return seconds !== undefined && seconds !== noDeadline;
}

/** Sets a condition; one that says the same already stays, times and all. */
export function withCondition(
  conditions: Conditions,
  facts: ConditionFacts,
  nowMs: number,
): DeploymentCondition[] {
  const existing = conditionOf(conditions, facts.type);
  if (existing?.status === facts.status && existing.reason === facts.reason) {
    return [...conditions];
  }
  return replaced(conditions, existing, facts, nowMs);
}

function replaced(
  conditions: Conditions,
  existing: DeploymentCondition | undefined,
  facts: ConditionFacts,
  nowMs: number,
): DeploymentCondition[] {
  const now = formatTime(nowMs);
  const isSame = existing?.status === facts.status;
  const lastTransitionTime = (isSame && existing.lastTransitionTime) || now;
  return [
    ...withoutCondition(conditions, facts.type),
    { ...facts, lastUpdateTime: now, lastTransitionTime },
  ];
}

/** Notes a pause or its end, for deployments whose progress is watched. */
export function pauseConditions(deployment: Deployment, nowMs: number): Conditions {
  const conditions = deployment.status?.conditions ?? [];
  const existing = conditionOf(conditions, 'Progressing');
  if (!hasProgressDeadline(deployment) || existing?.reason === 'ProgressDeadlineExceeded') {
    return conditions;
  }
  const isPaused = Boolean(deployment.spec?.paused);
  const isNotedPaused = existing?.reason === 'DeploymentPaused';
  if (isPaused === isNotedPaused) return conditions;
  const [reason, message] = isPaused
    ? ['DeploymentPaused', 'Deployment is paused']
    : ['DeploymentResumed', 'Deployment is resumed'];
  return withCondition(
    conditions,
    { type: 'Progressing', status: 'Unknown', reason, message },
    nowMs,
  );
}

/** Counts and availability; the conditions are `conditions` with `Available` brought up to date. */
export function countedStatus(
  rollout: Rollout,
  conditions: Conditions,
  nowMs: number,
): DeploymentStatus {
  const { deployment, current } = rollout;
  const all = allOf(rollout);
  const availableReplicas = sum(all, availableOf);
  const isAvailable =
    availableReplicas >= wantedReplicas(deployment) - boundsOf(deployment).maxUnavailable;
  const available: ConditionFacts = isAvailable
    ? {
        type: 'Available',
        status: 'True',
        reason: 'MinimumReplicasAvailable',
        message: 'Deployment has minimum availability.',
      }
    : {
        type: 'Available',
        status: 'False',
        reason: 'MinimumReplicasUnavailable',
        message: 'Deployment does not have minimum availability.',
      };
  return {
    ...(deployment.status?.collisionCount === undefined
      ? {}
      : { collisionCount: deployment.status.collisionCount }),
    observedGeneration: deployment.metadata?.generation ?? 0,
    replicas: sum(all, (one) => one.status?.replicas ?? 0),
    updatedReplicas: current?.status?.replicas ?? 0,
    readyReplicas: sum(all, (one) => one.status?.readyReplicas ?? 0),
    availableReplicas,
    unavailableReplicas: Math.max(0, sum(all, sizeOf) - availableReplicas),
    conditions: withCondition(conditions, available, nowMs),
  };
}

/** Whether both are the same when they are stored: stored counts of zero are missing. */
export function isSameStatus(a: DeploymentStatus | undefined, b: DeploymentStatus): boolean {
  return semanticallyEqual(withoutZeros(a ?? {}), withoutZeros(b));
}

function withoutZeros(status: DeploymentStatus): Partial<DeploymentStatus> {
  return Object.fromEntries(Object.entries(status).filter(([, value]) => value !== 0));
}

export function isComplete(deployment: Deployment, status: DeploymentStatus | undefined): boolean {
  const wanted = wantedReplicas(deployment);
  return (
    (status?.updatedReplicas ?? 0) === wanted &&
    (status?.replicas ?? 0) === wanted &&
    (status?.availableReplicas ?? 0) === wanted &&
    (status?.observedGeneration ?? 0) >= (deployment.metadata?.generation ?? 0)
  );
}

/** `countedStatus` with how the rollout gets on and whether replica sets fail. */
export function rolloutStatus(
  rollout: Rollout,
  conditions: Conditions,
  nowMs: number,
): DeploymentStatus {
  const status = countedStatus(rollout, conditions, nowMs);
  const progressing = progressConditions(rollout, status, nowMs);
  return { ...status, conditions: failureConditions(rollout, progressing, nowMs) };
}

function progressConditions(rollout: Rollout, status: DeploymentStatus, nowMs: number): Conditions {
  const { deployment } = rollout;
  const conditions = status.conditions ?? [];
  if (!hasProgressDeadline(deployment)) return withoutCondition(conditions, 'Progressing');
  const existing = conditionOf(conditions, 'Progressing');
  const isDone = existing?.reason === 'NewReplicaSetAvailable';
  if (isDone && (status.replicas ?? 0) === (status.updatedReplicas ?? 0)) return conditions;
  const subject = rollout.current
    ? `ReplicaSet "${rollout.current.metadata?.name}"`
    : `Deployment "${deployment.metadata?.name}"`;
  const facts = (state: string, reason: string, message: string): ConditionFacts => ({
    type: 'Progressing',
    status: state,
    reason,
    message: `${subject} ${message}`,
  });
  if (isComplete(deployment, status)) {
    const done = facts('True', 'NewReplicaSetAvailable', 'has successfully progressed.');
    return withCondition(conditions, done, nowMs);
  }
  if (hasProgressed(deployment.status, status)) {
    const moving = facts('True', 'ReplicaSetUpdated', 'is progressing.');
    return replaced(conditions, existing, moving, nowMs);
  }
  if (hasTimedOut(deployment, existing, nowMs)) {
    const stuck = facts('False', 'ProgressDeadlineExceeded', 'has timed out progressing.');
    return withCondition(conditions, stuck, nowMs);
  }
  return conditions;
}

function hasProgressed(before: DeploymentStatus | undefined, now: DeploymentStatus): boolean {
  const old = (status: DeploymentStatus | undefined) =>
    (status?.replicas ?? 0) - (status?.updatedReplicas ?? 0);
  return (
    (now.updatedReplicas ?? 0) > (before?.updatedReplicas ?? 0) ||
    old(now) < old(before) ||
    (now.readyReplicas ?? 0) > (before?.readyReplicas ?? 0) ||
    (now.availableReplicas ?? 0) > (before?.availableReplicas ?? 0)
  );
}

function hasTimedOut(
  deployment: Deployment,
  existing: DeploymentCondition | undefined,
  nowMs: number,
): boolean {
  if (!existing || existing.reason === 'NewReplicaSetAvailable') return false;
  if (existing.reason === 'ProgressDeadlineExceeded') return true;
  return nowMs > deadlineMs(deployment, existing);
}

function deadlineMs(deployment: Deployment, progressing: DeploymentCondition): number {
  const seconds = deployment.spec?.progressDeadlineSeconds ?? 0;
  return (parseTime(progressing.lastUpdateTime) ?? 0) + seconds * 1000;
}

/** The time until the next check of an unfinished rollout; undefined if none is needed. */
export function progressCheckMs(
  deployment: Deployment,
  status: DeploymentStatus,
  nowMs: number,
): number | undefined {
  const existing = conditionOf(status.conditions, 'Progressing');
  if (!existing || !hasProgressDeadline(deployment)) return undefined;
  if (isComplete(deployment, status) || existing.reason === 'ProgressDeadlineExceeded') {
    return undefined;
  }
  return Math.max(1_000, deadlineMs(deployment, existing) - nowMs + 1_000);
}

function failureConditions(
  rollout: Rollout,
  conditions: Conditions,
  nowMs: number,
): DeploymentCondition[] {
  const failing = (one: ReplicaSet | undefined) =>
    conditionOf(one?.status?.conditions, 'ReplicaFailure');
  const failure = failing(rollout.current) ?? rollout.old.map(failing).find(Boolean);
  if (!failure) return withoutCondition(conditions, 'ReplicaFailure');
  const { status = 'True', reason = '', message = '' } = failure;
  return withCondition(conditions, { type: 'ReplicaFailure', status, reason, message }, nowMs);
}
