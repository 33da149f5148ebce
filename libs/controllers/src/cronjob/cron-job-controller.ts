/**
 * Starts the jobs of cron jobs. The shell around `planRun`. The name of a job follows from the time
 * of its run, so that a run is started once, even if the controller stops between the creation of
 * the job and the status. Every wait is short, so that a changed clock is noticed soon; a refusal
 * is recorded once, not at every check.
 */
import {
  CronScheduleError,
  controllerOf,
  controllerReference,
  deepEqual,
  isControlledBy,
} from '@orch/apimachinery';
import {
  type EventRecorder,
  type Informer,
  isAlreadyExists,
  isNamespaceTerminating,
  isNotFound,
  keyOf,
  objectKey,
  resources,
} from '@orch/client';
import type { CronJob, CronJobStatus, Job } from '@orch/types/batch/v1';
import {
  type ControllerContext,
  type ControllerFactory,
  done,
  type ReconcileResult,
} from '../common/controller.js';
import { controller } from '../common/controller-builder.js';
import { dependentsOf, indexDependents } from '../common/dependents.js';
import { ignoring, messageOf } from '../common/expected-errors.js';
import { isJobFinished } from '../common/finished-job.js';
import { ReportedTexts } from '../common/reported-texts.js';
import { never } from '../common/watches.js';
import { limits } from '../limits.js';
import {
  type CronEvent,
  jobNameOf,
  observeJobs,
  planRun,
  type RunPlan,
  surplusHistory,
  withoutJobs,
  withStartedJob,
} from './cron-job-plan.js';
import { compileSchedule, type Schedule } from './run-times.js';

/** A run starts this long after its time, so that clocks that differ a little agree on it. */
const startDelayMs = 100;

export const cronJobController: ControllerFactory = (context) => {
  const reconciler = new CronJobReconciler(context);
  const isRescheduled = (cronJob: CronJob, old: CronJob) =>
    cronJob.spec?.schedule !== old.spec?.schedule;
  return (
    controller('cronjob', context)
      .workers(limits.cronJobWorkerCount)
      .for(resources.cronJobs, {
        update: (cronJob, old) => !isRescheduled(cronJob, old),
        delete: never,
      })
      // A new schedule applies from its next run on, not to runs that it would have missed.
      .watches(resources.cronJobs, (cronJob) => [objectKey(cronJob)], {
        create: never,
        update: isRescheduled,
        delete: never,
        delayMs: (cronJob) => reconciler.untilNextRunMs(cronJob),
      })
      .watches(resources.jobs, (job) => {
        const owner = controllerOf(job);
        return owner?.kind === 'CronJob' ? [keyOf(job.metadata?.namespace, owner.name)] : [];
      })
      .reconcile((key) => reconciler.reconcile(key))
  );
};

class CronJobReconciler {
  private readonly cronJobs: Informer<CronJob>;
  private readonly jobs: Informer<Job>;
  private readonly recorder: EventRecorder;
  /** The last refusals of each cron job. */
  private readonly reported: ReportedTexts;

  constructor(private readonly context: ControllerContext) {
    this.cronJobs = context.informers.informer(resources.cronJobs);
    this.jobs = context.informers.informer(resources.jobs);
    this.recorder = context.recorder('cronjob-controller');
    this.reported = new ReportedTexts(this.cronJobs);
    indexDependents(this.jobs);
  }

  /** Milliseconds until the next run; 0 if the schedule is invalid. */
  untilNextRunMs(cronJob: CronJob): number {
    const nowMs = this.context.clock.nowMs();
    const schedule = compiled(cronJob.spec?.schedule ?? '');
    if (schedule instanceof CronScheduleError) return 0;
    return waitMs(schedule.next(nowMs) ?? nowMs, nowMs);
  }

  async reconcile(key: string): Promise<ReconcileResult> {
    const cached = this.cronJobs.lister.get(key);
    if (!cached) return done;
    const jobs = dependentsOf(this.jobs, cached.metadata?.uid ?? '');
    const current = await this.currentCronJob(cached, jobs);
    if (current?.metadata?.uid !== cached.metadata?.uid || !current) return done;
    let cronJob: CronJob = { ...current, apiVersion: 'batch/v1', kind: 'CronJob' };
    const { status, events } = observeJobs(cronJob, jobs, await this.missingJobs(cronJob, jobs));
    cronJob = await this.writeStatus(cronJob, status);
    this.record(cronJob, events);
    const schedule = compiled(cronJob.spec?.schedule ?? '');
    let result = done;
    if (schedule instanceof CronScheduleError) this.reportUnparseable(key, cronJob, schedule);
    else result = await this.runDue(key, cronJob, schedule);
    if (!cronJob.metadata?.deletionTimestamp) await this.deleteHistory(cronJob, jobs);
    return result;
  }

  /** The cache may lack the status with a job that this controller has just started. */
  private async currentCronJob(
    cached: CronJob,
    jobs: readonly Job[],
  ): Promise<CronJob | undefined> {
    const active = new Set(cached.status?.active?.map(({ uid }) => uid));
    const isUnexpected = (job: Job) => !isJobFinished(job) && !active.has(job.metadata?.uid);
    if (!jobs.some(isUnexpected)) return cached;
    const { namespace, name = '' } = cached.metadata ?? {};
    const cronJobs = this.context.client.resource(resources.cronJobs, namespace);
    return ignoring(cronJobs.get(name), isNotFound);
  }

  /** Uids of active jobs that neither the cache nor the server has. */
  private async missingJobs(cronJob: CronJob, jobs: readonly Job[]): Promise<Set<string>> {
    const present = new Set(jobs.map(({ metadata }) => metadata?.uid));
    const missing = new Set<string>();
    const client = this.context.client.resource(resources.jobs, cronJob.metadata?.namespace);
    for (const { name = '', uid = '' } of cronJob.status?.active ?? []) {
      if (present.has(uid)) continue;
      const job = await ignoring(client.get(name), isNotFound);
      if (job?.metadata?.uid !== uid) missing.add(uid);
    }
    return missing;
  }

  private async runDue(
    key: string,
    cronJob: CronJob,
    schedule: Schedule,
  ): Promise<ReconcileResult> {
    const plan = planRun(cronJob, schedule, this.context.clock.nowMs());
    this.reportOnce(key, cronJob, plan.events, plan.dueMs);
    if (plan.startMs !== undefined) await this.startRun(cronJob, plan, plan.startMs);
    if (plan.nextMs === undefined) return done;
    return { requeueAfterMs: waitMs(plan.nextMs, this.context.clock.nowMs()) };
  }

  private async startRun(cronJob: CronJob, plan: RunPlan, startMs: number): Promise<void> {
    for (const { name = '', uid } of plan.replaced) await this.deleteJob(cronJob, name, uid);
    const job = await this.createJob(cronJob, startMs);
    if (!job) return;
    const status = withoutJobs(cronJob.status ?? {}, plan.replaced);
    await this.writeStatus(cronJob, withStartedJob(status, job, startMs));
  }

  /** @returns the job of the run, which an earlier attempt may have created. */
  private async createJob(cronJob: CronJob, startMs: number): Promise<Job | undefined> {
    const client = this.context.client.resource(resources.jobs, cronJob.metadata?.namespace);
    const wanted = jobOf(cronJob, startMs);
    try {
      const job = await client.create(wanted);
      const message = `Created job ${job.metadata?.name}`;
      this.recorder.event(cronJob, 'Normal', 'SuccessfulCreate', message);
      return job;
    } catch (error) {
      // A namespace that is being deleted accepts no jobs: a retry cannot succeed.
      if (isNamespaceTerminating(error)) return undefined;
      if (isAlreadyExists(error)) {
        const existing = await client.get(wanted.metadata?.name ?? '');
        if (isControlledBy(existing, cronJob)) return existing;
      }
      const message = `Error creating job: ${messageOf(error)}`;
      this.recorder.event(cronJob, 'Warning', 'FailedCreate', message);
      throw error;
    }
  }

  private async deleteHistory(cronJob: CronJob, jobs: readonly Job[]): Promise<void> {
    for (const { metadata } of surplusHistory(cronJob, jobs)) {
      await this.deleteJob(cronJob, metadata?.name ?? '', metadata?.uid);
    }
  }

  private async deleteJob(cronJob: CronJob, name: string, uid: string | undefined): Promise<void> {
    const client = this.context.client.resource(resources.jobs, cronJob.metadata?.namespace);
    const options = { propagationPolicy: 'Background', ...(uid && { preconditions: { uid } }) };
    try {
      await client.delete(name, options as { propagationPolicy: 'Background' });
      this.recorder.event(cronJob, 'Normal', 'SuccessfulDelete', `Deleted job ${name}`);
    } catch (error) {
      if (isNotFound(error)) return;
      const message = `Deleted job: ${messageOf(error)}`;
      this.recorder.event(cronJob, 'Warning', 'FailedDelete', message);
      throw error;
    }
  }

  /** @returns the stored object. A conflict is retried by the queue, with the newer object. */
  private async writeStatus(cronJob: CronJob, status: CronJobStatus): Promise<CronJob> {
    if (deepEqual(status, cronJob.status ?? {})) return cronJob;
    const client = this.context.client.resource(resources.cronJobs, cronJob.metadata?.namespace);
    const stored = await client.replaceStatus({ ...cronJob, status });
    return { ...stored, apiVersion: cronJob.apiVersion, kind: cronJob.kind } as CronJob;
  }

  private reportUnparseable(key: string, cronJob: CronJob, error: CronScheduleError): void {
    const text = JSON.stringify(cronJob.spec?.schedule ?? '');
    const message = `unparseable schedule: ${text} : ${error.message}`;
    const event: CronEvent = { type: 'Warning', reason: 'UnparseableSchedule', message };
    this.reportOnce(key, cronJob, [event], undefined);
  }

  /** Records the events unless the same ones were recorded for the same run. */
  private reportOnce(
    key: string,
    cronJob: CronJob,
    events: readonly CronEvent[],
    dueMs: number | undefined,
  ): void {
    const { uid, generation } = cronJob.metadata ?? {};
    const reasons = events.map(({ reason }) => reason);
    const text = [uid, generation, dueMs, ...reasons].join(' ');
    if (this.reported.isNew(key, text)) this.record(cronJob, events);
  }

  private record(cronJob: CronJob, events: readonly CronEvent[]): void {
    for (const { type, reason, message } of events) {
      this.recorder.event(cronJob, type, reason, message);
    }
  }
}

function compiled(schedule: string): Schedule | CronScheduleError {
  try {
    return compileSchedule(schedule);
  } catch (error) {
    if (error instanceof CronScheduleError) return error;
    throw error;
  }
}

function waitMs(nextMs: number, nowMs: number): number {
  return Math.min(Math.max(0, nextMs - nowMs) + startDelayMs, limits.wallClockWaitMsMax);
}

function jobOf(cronJob: CronJob, startMs: number): Job {
  const { metadata, spec } = cronJob.spec?.jobTemplate ?? {};
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: {
      name: jobNameOf(cronJob, startMs),
      namespace: cronJob.metadata?.namespace,
      ...(metadata?.labels && { labels: { ...metadata.labels } }),
      ...(metadata?.annotations && { annotations: { ...metadata.annotations } }),
      ownerReferences: [controllerReference(cronJob)],
    },
    ...(spec && { spec: structuredClone(spec) }),
  };
}
