/** The status of a job. Pure. */
import { conditionOf, deepEqual, formatTime, isConditionTrue } from '@orch/apimachinery';
import type { Job, JobCondition, JobConditionType, JobStatus } from '@orch/types/batch/v1';
import { withoutCondition } from '../common/conditions.js';

export function isJobFailed({ status }: Job): boolean {
  return isConditionTrue(status?.conditions, 'Failed');
}

export function jobCondition(
  type: JobConditionType,
  status: 'True' | 'False',
  nowMs: number,
  reason = '',
  message = '',
): JobCondition {
  const now = formatTime(nowMs);
  const texts = { ...(reason && { reason }), ...(message && { message }) };
  return { type, status, lastProbeTime: now, lastTransitionTime: now, ...texts };
}

/** Replaces the condition of the same type, unless it has the same status. */
export function withCondition(
  conditions: readonly JobCondition[],
  condition: JobCondition,
): JobCondition[] {
  const old = conditionOf(conditions, condition.type);
  if (old?.status === condition.status) return [...conditions];
  return [...withoutCondition(conditions, condition.type), condition];
}

export interface SuspensionChange {
  readonly conditions: JobCondition[];
  readonly event?: { readonly reason: string; readonly message: string };
}

/** A job that was never suspended has no such condition. */
export function withSuspension(
  conditions: readonly JobCondition[],
  isSuspended: boolean,
  nowMs: number,
): SuspensionChange {
  const old = conditionOf(conditions, 'Suspended');
  if ((old?.status === 'True') === isSuspended) return { conditions: [...conditions] };
  const reason = isSuspended ? 'Suspended' : 'Resumed';
  const message = isSuspended ? 'Job suspended' : 'Job resumed';
  const status = isSuspended ? 'True' : 'False';
  const condition = jobCondition('Suspended', status, nowMs, `Job${reason}`, message);
  return { conditions: withCondition(conditions, condition), event: { reason, message } };
}

const counts = ['active', 'succeeded', 'failed'] as const;

/** Whether two statuses are equal; an absent count is zero. */
export function sameStatus(a: JobStatus | undefined, b: JobStatus): boolean {
  return (
    counts.every((name) => (a?.[name] ?? 0) === (b[name] ?? 0)) &&
    (a?.startTime ?? '') === (b.startTime ?? '') &&
    (a?.completionTime ?? '') === (b.completionTime ?? '') &&
    (a?.completedIndexes ?? '') === (b.completedIndexes ?? '') &&
    deepEqual(a?.conditions ?? [], b.conditions ?? [])
  );
}

/** Omits counts of zero, as clients expect. */
export function withCounts(
  status: JobStatus,
  values: Readonly<Record<(typeof counts)[number], number>>,
): JobStatus {
  const { active: _active, succeeded: _succeeded, failed: _failed, ...others } = status;
  const present = counts.filter((name) => values[name] > 0);
  return { ...others, ...Object.fromEntries(present.map((name) => [name, values[name]])) };
}
