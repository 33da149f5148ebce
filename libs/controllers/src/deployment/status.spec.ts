import { conditionOf } from '@orch/apimachinery';
import { describe, expect, it } from 'vitest';
import { at, deployment, epochMs, replicaSet } from '../../test/objects.js';
import { rolloutOf } from './rollout.js';
import { isSameStatus, pauseConditions, progressCheckMs, rolloutStatus } from './status.js';

const counts = (count: number) => ({
  replicas: count,
  readyReplicas: count,
  availableReplicas: count,
});

const statusOf = (
  wanted: ReturnType<typeof deployment>,
  available: number,
  seconds: number,
  size = 3,
) => {
  const current = replicaSet({ name: 'web-x', replicas: size, status: counts(available) });
  const rollout = rolloutOf(wanted, [current]);
  const nowMs = epochMs + seconds * 1000;
  return rolloutStatus(rollout, wanted.status?.conditions ?? [], nowMs);
};
const progressing = (reason: string, status = 'True') => ({
  conditions: [
    {
      type: 'Progressing',
      status,
      reason,
      message: '',
      lastUpdateTime: at(0),
      lastTransitionTime: at(0),
    },
  ],
});

describe('rolloutStatus', () => {
  it('is available and complete when all replicas are', () => {
    const status = statusOf(deployment({}), 3, 5);
    expect(status).toMatchObject({
      replicas: 3,
      updatedReplicas: 3,
      readyReplicas: 3,
      availableReplicas: 3,
      unavailableReplicas: 0,
      observedGeneration: 1,
    });
    expect(conditionOf(status.conditions, 'Available')).toMatchObject({
      status: 'True',
      reason: 'MinimumReplicasAvailable',
      message: 'Deployment has minimum availability.',
    });
    expect(conditionOf(status.conditions, 'Progressing')).toMatchObject({
      status: 'True',
      reason: 'NewReplicaSetAvailable',
      message: 'ReplicaSet "web-x" has successfully progressed.',
    });
  });

  it('moves its update time, not its transition, while it progresses', () => {
    const wanted = deployment({ status: { ...counts(1), ...progressing('ReplicaSetUpdated') } });
    const status = statusOf(wanted, 2, 60);
    expect(conditionOf(status.conditions, 'Progressing')).toMatchObject({
      reason: 'ReplicaSetUpdated',
      message: 'ReplicaSet "web-x" is progressing.',
      lastUpdateTime: at(60),
      lastTransitionTime: at(0),
    });
    expect(conditionOf(status.conditions, 'Available')).toMatchObject({
      status: 'False',
      reason: 'MinimumReplicasUnavailable',
    });
  });

  it('times out after the deadline without progress, and not before', () => {
    const status = { ...counts(2), updatedReplicas: 2, ...progressing('ReplicaSetUpdated') };
    const wanted = deployment({ status });
    const before = statusOf(wanted, 2, 600);
    expect(conditionOf(before.conditions, 'Progressing')?.reason).toBe('ReplicaSetUpdated');
    expect(progressCheckMs(wanted, before, epochMs + 590_000)).toBe(11_000);
    const after = statusOf(wanted, 2, 601);
    expect(conditionOf(after.conditions, 'Progressing')).toMatchObject({
      status: 'False',
      reason: 'ProgressDeadlineExceeded',
      message: 'ReplicaSet "web-x" has timed out progressing.',
    });
    expect(progressCheckMs(wanted, after, epochMs + 601_000)).toBeUndefined();
  });

  it('says why a replica set fails', () => {
    const failing = replicaSet({ name: 'web-x', replicas: 3, status: counts(0) });
    failing.status!.conditions = [
      { type: 'ReplicaFailure', status: 'True', reason: 'FailedCreate', message: 'quota' },
    ];
    const status = rolloutStatus(rolloutOf(deployment({}), [failing]), [], epochMs);
    expect(conditionOf(status.conditions, 'ReplicaFailure')).toMatchObject({
      status: 'True',
      reason: 'FailedCreate',
      message: 'quota',
    });
  });
});

describe('isSameStatus', () => {
  it('takes a missing count for zero, as the server stores it', () => {
    const computed = statusOf(deployment({}), 3, 5);
    expect(computed.unavailableReplicas).toBe(0);
    const { unavailableReplicas: _zero, ...stored } = computed;
    expect(isSameStatus(stored, computed)).toBe(true);
    expect(isSameStatus({ ...stored, unavailableReplicas: 1 }, computed)).toBe(false);
    expect(isSameStatus(undefined, computed)).toBe(false);
  });
});

describe('pauseConditions', () => {
  it.each([
    [true, undefined, 'DeploymentPaused'],
    [false, 'DeploymentPaused', 'DeploymentResumed'],
    [true, 'ProgressDeadlineExceeded', 'ProgressDeadlineExceeded'],
    [false, 'ReplicaSetUpdated', 'ReplicaSetUpdated'],
  ])('paused %s after %s: %s', (paused, before, after) => {
    const status = before ? progressing(before) : {};
    const conditions = pauseConditions(deployment({ spec: { paused }, status }), epochMs);
    expect(conditionOf(conditions, 'Progressing')?.reason).toBe(after);
  });
});
