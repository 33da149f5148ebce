/**
 * Plans a cron job: which run to start now, which jobs are active, which finished jobs exceed the
 * history, and when to look again. Pure: the cron job, its jobs, its schedule and the time go in.
 */
import { formatTime, parseTime } from '@orch/apimachinery';
import type { CronJob, CronJobStatus, Job } from '@orch/types/batch/v1';
import type { ObjectReference } from '@orch/types/core/v1';
import { createdMs } from '../common/created.js';
import { finishedCondition, isJobFinished } from '../common/finished-job.js';
import { limits } from '../limits.js';
import { type MissedRuns, missedRuns, runTimeText, type Schedule } from './run-times.js';

export interface CronEvent {
  readonly type: 'Normal' | 'Warning';
  readonly reason: string;
  readonly message: string;
}

export interface ActiveJobs {
  readonly status: CronJobStatus;
  readonly events: readonly CronEvent[];
}

/**
 * The status with the jobs that are still active. `missing` has the uids of active jobs that do not
 * exist any more.
 */
export function observeJobs(
  { status = {} }: CronJob,
  jobs: readonly Job[],
  missing: ReadonlySet<string>,
): ActiveJobs {
  let active = [...(status.active ?? [])];
  let { lastSuccessfulTime } = status;
  const events: CronEvent[] = [];
  for (const job of jobs) {
    const { name, uid } = job.metadata ?? {};
    const isListed = active.some((reference) => reference.uid === uid);
    const condition = finishedCondition(job.status);
    if (!condition) {
      if (isListed) continue;
      const message = `Saw a job that the controller did not create or forgot: ${name}`;
      events.push({ type: 'Warning', reason: 'UnexpectedJob', message });
      continue;
    }
    if (isListed) {
      active = active.filter((reference) => reference.uid !== uid);
      const message = `Saw completed job: ${name}, status: ${condition.type}`;
      events.push({ type: 'Normal', reason: 'SawCompletedJob', message });
    }
    if (condition.type === 'Complete') {
      lastSuccessfulTime = laterTime(lastSuccessfulTime, job.status?.completionTime);
    }
  }
  for (const { name, uid = '' } of active.filter((reference) => missing.has(reference.uid ?? ''))) {
    active = active.filter((reference) => reference.uid !== uid);
    const message = `Active job went missing: ${name}`;
    events.push({ type: 'Normal', reason: 'MissingJob', message });
  }
  return { status: statusWith(status, active, lastSuccessfulTime), events };
}

export interface RunPlan {
  /** The time of the run to start now. */
  readonly startMs?: number;
  /** The active jobs to delete first. */
  readonly replaced: readonly ObjectReference[];
  readonly events: readonly CronEvent[];
  /** The time of the latest run that is due, started or not. */
  readonly dueMs?: number;
  /** When to look again; undefined until the object changes. */
  readonly nextMs?: number;
}

/** Plans the run that is due. */
export function planRun(cronJob: CronJob, schedule: Schedule, nowMs: number): RunPlan {
  const { spec, status } = cronJob;
  const idle: RunPlan = { replaced: [], events: [] };
  if (cronJob.metadata?.deletionTimestamp || spec?.suspend) return idle;
  const nextMs = schedule.next(nowMs);
  if (nextMs === undefined) {
    const reason = 'time difference between two schedules less than 1 second';
    const message = `invalid schedule: ${spec?.schedule} : ${reason}`;
    return { ...idle, events: [{ type: 'Warning', reason: 'InvalidSchedule', message }] };
  }
  const waiting: RunPlan = { ...idle, nextMs };
  const lastMs = parseTime(status?.lastScheduleTime);
  if (lastMs !== undefined && lastMs > nowMs) {
    const message = `the last schedule time ${status?.lastScheduleTime} is in the future: no run starts before it; check clock skew`;
    return { ...waiting, events: [{ type: 'Warning', reason: 'ClockSkew', message }] };
  }
  const missed = missedRuns(schedule, earliestMs(cronJob, nowMs), nowMs);
  if (!missed) return waiting;
  const events = tooManyMissed(missed);
  const due = { ...waiting, events, dueMs: missed.latestMs };
  const refused = (event: CronEvent): RunPlan => ({ ...due, events: [...events, event] });
  if (isTooLate(cronJob, missed.latestMs, nowMs)) {
    const time = runTimeText(missed.latestMs);
    const message = `Missed scheduled time to start a job: ${time}`;
    return refused({ type: 'Warning', reason: 'MissSchedule', message });
  }
  if (lastMs === missed.latestMs || isActive(cronJob, jobNameOf(cronJob, missed.latestMs))) {
    return due;
  }
  const active = status?.active ?? [];
  if (spec?.concurrencyPolicy === 'Forbid' && active.length > 0) {
    const message =
      'Not starting job because prior execution is running and concurrency policy is Forbid';
    return refused({ type: 'Normal', reason: 'JobAlreadyActive', message });
  }
  const replaced = spec?.concurrencyPolicy === 'Replace' ? active : [];
  return { ...due, startMs: missed.latestMs, replaced };
}

/** Finished jobs above the limits of the history, the oldest first. */
export function surplusHistory({ spec }: CronJob, jobs: readonly Job[]): Job[] {
  const finished = jobs.filter((job) => isJobFinished(job) && !job.metadata?.deletionTimestamp);
  const ofType = (type: string) =>
    finished.filter(({ status }) => finishedCondition(status)?.type === type);
  return [
    ...oldest(ofType('Complete'), spec?.successfulJobsHistoryLimit),
    ...oldest(ofType('Failed'), spec?.failedJobsHistoryLimit),
  ];
}

/** The name of the job of a run: two controllers that start the same run create one job. */
export function jobNameOf({ metadata }: CronJob, scheduledMs: number): string {
  return `${metadata?.name}-${Math.floor(scheduledMs / 60_000)}`;
}

/** The status with a job that was started for the run at `scheduledMs`. */
export function withStartedJob(
  status: CronJobStatus,
  job: Job,
  scheduledMs: number,
): CronJobStatus {
  const { namespace, name, uid, resourceVersion } = job.metadata ?? {};
  const reference = { kind: 'Job', namespace, name, uid, apiVersion: 'batch/v1', resourceVersion };
  const others = (status.active ?? []).filter((active) => active.uid !== uid);
  const active = isJobFinished(job) ? others : [...others, reference];
  const lastScheduleTime = formatTime(scheduledMs);
  return { ...statusWith(status, active, status.lastSuccessfulTime), lastScheduleTime };
}

/** The status without jobs that were deleted. */
export function withoutJobs(
  status: CronJobStatus,
  deleted: readonly ObjectReference[],
): CronJobStatus {
  const active = (status.active ?? []).filter(({ uid }) => deleted.every((one) => one.uid !== uid));
  return statusWith(status, active, status.lastSuccessfulTime);
}

function statusWith(
  { active: _active, lastSuccessfulTime: _last, ...others }: CronJobStatus,
  active: readonly ObjectReference[],
  lastSuccessfulTime: string | undefined,
): CronJobStatus {
  return {
    ...others,
    ...(active.length > 0 && { active: [...active] }),
    ...(lastSuccessfulTime !== undefined && { lastSuccessfulTime }),
  };
}

/** Runs before it count as missed for good. */
function earliestMs(cronJob: CronJob, nowMs: number): number {
  const sinceMs = parseTime(cronJob.status?.lastScheduleTime) ?? createdMs(cronJob);
  const deadlineSeconds = cronJob.spec?.startingDeadlineSeconds;
  return deadlineSeconds === undefined
    ? sinceMs
    : Math.max(sinceMs, nowMs - deadlineSeconds * 1000);
}

function isTooLate({ spec }: CronJob, scheduledMs: number, nowMs: number): boolean {
  const deadlineSeconds = spec?.startingDeadlineSeconds;
  return deadlineSeconds !== undefined && scheduledMs + deadlineSeconds * 1000 < nowMs;
}

function isActive({ status }: CronJob, jobName: string): boolean {
  return status?.active?.some(({ name }) => name === jobName) ?? false;
}

function tooManyMissed({ count }: MissedRuns): CronEvent[] {
  if (count <= limits.missedRunCountMax) return [];
  const message = `too many missed start times: ${count}. Set or decrease .spec.startingDeadlineSeconds or check clock skew`;
  return [{ type: 'Warning', reason: 'TooManyMissedTimes', message }];
}

function oldest(jobs: readonly Job[], keptCount: number | undefined): Job[] {
  if (keptCount === undefined || jobs.length <= keptCount) return [];
  const startMs = ({ status }: Job) => parseTime(status?.startTime) ?? Number.POSITIVE_INFINITY;
  const name = ({ metadata }: Job) => metadata?.name ?? '';
  const sorted = [...jobs].sort((a, b) => {
    if (startMs(a) !== startMs(b)) return startMs(a) < startMs(b) ? -1 : 1;
    return name(a) < name(b) ? -1 : 1;
  });
  return sorted.slice(0, jobs.length - keptCount);
}

function laterTime(a: string | undefined, b: string | undefined): string | undefined {
  return (parseTime(a) ?? 0) >= (parseTime(b) ?? 0) ? a : b;
}
