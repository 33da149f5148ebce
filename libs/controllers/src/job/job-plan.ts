/**
 * Plans a job: whether it has failed or is complete, and which pods to create or delete. Pure: the
 * job, its pods, the counts of finished pods and the time go in.
 *
 * Invariants: active pods never exceed the parallelism after a plan is carried out, nor the
 * completions that are missing; no index has two active pods; a job that has finished creates
 * none.
 */
import { parseTime } from '@orch/apimachinery';
import type { Job } from '@orch/types/batch/v1';
import type { Pod } from '@orch/types/core/v1';
import { inDeletionOrder } from '../common/deletion-order.js';
import { isPodActive } from '../common/pods.js';
import { limits } from '../limits.js';
import { isIndexed, partitionByIndex, pendingIndexes, succeededIndexes } from './job-indexes.js';
import type { FinishedCounts } from './job-tally.js';

export interface JobState {
  readonly job: Job;
  /** The pods of the job. */
  readonly pods: readonly Pod[];
  readonly finished: FinishedCounts;
  readonly isSuspended: boolean;
  readonly nowMs: number;
}

export interface JobFailure {
  readonly reason: 'BackoffLimitExceeded' | 'DeadlineExceeded';
  readonly message: string;
}

export interface JobPlan {
  readonly failure?: JobFailure;
  readonly deletions: readonly Pod[];
  /** One entry for each pod to create: its index, or undefined if the job is not indexed. */
  readonly creations: readonly (number | undefined)[];
}

const nothing: JobPlan = { deletions: [], creations: [] };

/** Surplus pods are deleted before new ones are created: a plan has one or the other. */
export function planJob(state: JobState): JobPlan {
  const { job, pods, isSuspended } = state;
  const active = pods.filter(isPodActive);
  const failure = failureOf(state);
  if (failure) return { ...nothing, failure, deletions: active };
  if (isSuspended) return { ...nothing, deletions: active.slice(0, clampBurst(active.length)) };
  const wantedCount = wantedActiveCount(job, succeededCount(state), active.length);
  const deletions = surplusPods(state, active, active.length - wantedCount);
  if (deletions.length > 0) return { ...nothing, deletions };
  const missingCount = clampBurst(wantedCount - active.length);
  if (missingCount === 0) return nothing;
  if (!isIndexed(job)) {
    return { ...nothing, creations: Array.from({ length: missingCount }, () => undefined) };
  }
  const succeeded = succeededIndexes(job, pods);
  const completions = job.spec?.completions ?? 0;
  return { ...nothing, creations: pendingIndexes(pods, succeeded, missingCount, completions) };
}

/** Pods that have succeeded, or indexes of an indexed job. */
export function succeededCount({ job, pods, finished }: JobState): number {
  return isIndexed(job) ? succeededIndexes(job, pods).size : finished.succeeded;
}

/** Whether enough pods have succeeded. Without completions: one, and no other is active. */
export function isComplete({ spec }: Job, succeeded: number, activeCount: number): boolean {
  if (spec?.completions === undefined) return succeeded > 0 && activeCount === 0;
  return succeeded >= spec.completions;
}

/** Milliseconds until the active deadline; undefined without one. */
export function remainingActiveMs({ job, isSuspended, nowMs }: JobState): number | undefined {
  const startMs = parseTime(job.status?.startTime);
  const seconds = job.spec?.activeDeadlineSeconds;
  if (seconds === undefined || startMs === undefined || isSuspended) return undefined;
  return startMs + seconds * 1000 - nowMs;
}

function failureOf(state: JobState): JobFailure | undefined {
  const { job, pods, finished } = state;
  const backoffLimit = job.spec?.backoffLimit ?? 6;
  const isNewFailure = finished.failed > (job.status?.failed ?? 0);
  const isOverLimit = isNewFailure && finished.failed > backoffLimit;
  if (isOverLimit || restartsExceed(job, pods, backoffLimit)) {
    const message = 'Job has reached the specified backoff limit';
    return { reason: 'BackoffLimitExceeded', message };
  }
  if ((remainingActiveMs(state) ?? 1) > 0) return undefined;
  return {
    reason: 'DeadlineExceeded',
    message: 'Job was active longer than specified deadline',
  };
}

/** Containers that restart in their pod count against the limit as well. */
function restartsExceed(job: Job, pods: readonly Pod[], backoffLimit: number): boolean {
  if (job.spec?.template?.spec?.restartPolicy !== 'OnFailure') return false;
  let restartCount = 0;
  for (const { status } of pods) {
    if (status?.phase !== 'Running' && status?.phase !== 'Pending') continue;
    for (const container of status.initContainerStatuses ?? []) {
      restartCount += container.restartCount ?? 0;
    }
    for (const container of status.containerStatuses ?? []) {
      restartCount += container.restartCount ?? 0;
    }
  }
  return backoffLimit === 0 ? restartCount > 0 : restartCount >= backoffLimit;
}

function wantedActiveCount({ spec }: Job, succeeded: number, activeCount: number): number {
  const parallelism = spec?.parallelism ?? 1;
  if (spec?.completions !== undefined) {
    return Math.max(0, Math.min(spec.completions - succeeded, parallelism));
  }
  // The first success ends the job: no more pods are created, and the active ones may finish.
  return succeeded > 0 ? activeCount : parallelism;
}

function surplusPods({ job, pods, nowMs }: JobState, active: readonly Pod[], count: number): Pod[] {
  const ordered = inDeletionOrder(active, [], { byCost: false, byLogarithmicAge: false, nowMs });
  if (!isIndexed(job)) return ordered.slice(0, clampBurst(count));
  const completions = job.spec?.completions ?? 0;
  // If two pods have an index, the one that would be deleted later keeps it.
  const kept = ordered.reverse();
  const { surplus, unique } = partitionByIndex(kept, succeededIndexes(job, pods), completions);
  const more = unique.reverse().slice(0, Math.max(0, count - surplus.length));
  return [...surplus, ...more].slice(0, limits.replicaBurstMax);
}

function clampBurst(count: number): number {
  return Math.max(0, Math.min(count, limits.replicaBurstMax));
}
