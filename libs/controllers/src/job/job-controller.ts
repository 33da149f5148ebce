/**
 * Runs the pods of jobs until enough of them have succeeded. The shell around `planJob`. A
 * reconciliation plans nothing while requests of an earlier one have not appeared in the cache
 * (`Expectations`). A job that fails is recorded as failed before its pods are deleted, so that a
 * restart in between neither forgets the reason nor leaves pods behind.
 */
import { formatTime } from '@orch/apimachinery';
import {
  type EventRecorder,
  type EventType,
  type Informer,
  objectKey,
  resources,
} from '@orch/client';
import type { Job, JobStatus } from '@orch/types/batch/v1';
import type { Pod } from '@orch/types/core/v1';
import { claim } from '../common/claimer.js';
import {
  type ControllerContext,
  type ControllerFactory,
  done,
  type ReconcileResult,
} from '../common/controller.js';
import { controller } from '../common/controller-builder.js';
import { claimCandidates, dependentsOf } from '../common/dependents.js';
import { Expectations } from '../common/expectations.js';
import { isJobFinished } from '../common/finished-job.js';
import { PodControl } from '../common/pod-control.js';
import { isPodActive } from '../common/pods.js';
import { replaceStatus } from '../common/replace-status.js';
import { SelectorOverlap } from '../common/selector-overlap.js';
import { selectorOf } from '../common/selectors.js';
import { limits } from '../limits.js';
import { JobBackoff } from './job-backoff.js';
import { formatIndexes, isIndexed, succeededIndexes } from './job-indexes.js';
import {
  isComplete,
  type JobPlan,
  type JobState,
  planJob,
  remainingActiveMs,
  succeededCount,
} from './job-plan.js';
import { jobPod } from './job-pods.js';
import { isJobFailed, jobCondition, sameStatus, withCounts, withSuspension } from './job-status.js';
import { JobTally } from './job-tally.js';

const podUidIndex = 'uid';

export const jobController: ControllerFactory = (context) => {
  const reconciler = new JobReconciler(context);
  context.informers.informer(resources.jobs).addHandlers({
    onDelete: (job) => reconciler.forget(objectKey(job)),
  });
  return controller('job', context)
    .workers(limits.jobWorkerCount)
    .for(resources.jobs)
    .owns(resources.pods, {
      selector: selectorOf,
      expectations: reconciler.expectations,
    })
    .reconcile((key) => reconciler.reconcile(key));
};

interface JobEvent {
  readonly type: EventType;
  readonly reason: string;
  readonly message: string;
}

interface StatusChange {
  readonly status: JobStatus;
  /** Recorded when the status has been written. */
  readonly events: readonly JobEvent[];
}

class JobReconciler {
  readonly expectations: Expectations;
  private readonly backoff = new JobBackoff();
  private readonly tallies = new Map<string, { readonly uid: string; readonly tally: JobTally }>();
  private readonly jobs: Informer<Job>;
  private readonly pods: Informer<Pod>;
  private readonly recorder: EventRecorder;
  private readonly podControl: PodControl;
  private readonly overlap: SelectorOverlap<Job>;

  constructor(private readonly context: ControllerContext) {
    this.expectations = new Expectations(context.clock);
    this.jobs = context.informers.informer(resources.jobs);
    this.pods = context.informers.informer(resources.pods);
    this.pods.addIndex(podUidIndex, ({ metadata }) => [metadata?.uid ?? '']);
    this.recorder = context.recorder('job-controller');
    this.podControl = new PodControl(context, this.recorder, this.expectations);
    this.overlap = new SelectorOverlap(this.jobs, this.recorder, selectorOf);
  }

  forget(key: string): void {
    this.tallies.delete(key);
    this.backoff.reset(key);
  }

  async reconcile(key: string): Promise<ReconcileResult> {
    const cached = this.jobs.lister.get(key);
    if (!cached) return done;
    const job: Job = { ...cached, apiVersion: 'batch/v1', kind: 'Job' };
    if (isJobFinished(job)) return this.cleanUp(key, job);
    if (!this.isSupported(job)) return done;
    // The server generates all other selectors, from uids.
    if (job.spec?.manualSelector && !job.status?.startTime) this.overlap.report(job);
    const isCacheCurrent = this.expectations.satisfied(key);
    const pods = await this.claimPods(job);
    const state = this.stateOf(key, job, pods);
    const plan = planJob(state);
    const pauseMs = this.failurePauseMs(key, state, plan);
    if (pauseMs > 0) return { requeueAfterMs: Math.min(pauseMs, limits.wallClockWaitMsMax) };
    if (plan.failure) return this.fail(key, job, state, plan);
    // While the cache is behind, it lacks pods that the status counts.
    let activeCount = isCacheCurrent ? pods.filter(isPodActive).length : (job.status?.active ?? 0);
    let error: unknown;
    const mayManage = isCacheCurrent && !job.metadata?.deletionTimestamp;
    if (mayManage) {
      const outcome = await this.applyPlan(job, plan);
      activeCount += outcome.change;
      error = outcome.error;
    }
    const change = this.statusOf(state, activeCount, mayManage);
    const isChanged = await this.writeStatus(job, change);
    if (error !== undefined) throw error;
    const written = { ...state, job: { ...job, status: change.status } };
    return this.nextReconciliation(key, written, isChanged ? job.status : change.status);
  }

  /** A failed job has no active pods; a job that is complete leaves surplus pods to finish. */
  private async cleanUp(key: string, job: Job): Promise<ReconcileResult> {
    this.forget(key);
    if (!isJobFailed(job) || !this.expectations.satisfied(key)) return done;
    const active = dependentsOf(this.pods, job.metadata?.uid ?? '').filter(isPodActive);
    if (active.length === 0) return done;
    const { error } = await this.podControl.delete(job, active);
    if (error !== undefined) throw error;
    return done;
  }

  private isSupported(job: Job): boolean {
    const mode = job.spec?.completionMode;
    const isIndexedEnabled = this.context.features.enabled('IndexedJob');
    if (mode === 'Indexed' && !isIndexedEnabled) {
      const message = 'Skipped Indexed Job sync because feature is disabled.';
      this.recorder.event(job, 'Warning', 'IndexedJobDisabled', message);
      return false;
    }
    if (mode === undefined || mode === 'NonIndexed' || mode === 'Indexed') return true;
    const message = 'Skipped Job sync because completion mode is unknown';
    this.recorder.event(job, 'Warning', 'UnknownCompletionMode', message);
    return false;
  }

  private claimPods(job: Job): Promise<Pod[]> {
    return claim({
      client: this.context.client,
      owner: job,
      ownerResource: resources.jobs,
      selector: selectorOf(job),
      dependentResource: resources.pods,
      candidates: claimCandidates(this.pods, job),
    });
  }

  private stateOf(key: string, job: Job, pods: readonly Pod[]): JobState {
    const { clock, features } = this.context;
    const uid = job.metadata?.uid ?? '';
    let known = this.tallies.get(key);
    if (known?.uid !== uid) {
      known = { uid, tally: new JobTally(job, pods) };
      this.tallies.set(key, known);
    }
    const exists = (podUid: string) => this.pods.lister.byIndex(podUidIndex, podUid).length > 0;
    const isSuspended = features.enabled('SuspendJob') && job.spec?.suspend === true;
    const nowMs = clock.nowMs();
    const startTime = job.status?.startTime ?? (isSuspended ? undefined : formatTime(nowMs));
    const status = { ...job.status, ...(startTime !== undefined && { startTime }) };
    const finished = known.tally.count(pods, exists);
    return { job: { ...job, status }, pods, finished, isSuspended, nowMs };
  }

  /** @returns the change of the number of active pods. */
  private async applyPlan(
    job: Job,
    { creations, deletions }: JobPlan,
  ): Promise<{ readonly change: number; readonly error: unknown }> {
    if (deletions.length > 0) {
      const { count, error } = await this.podControl.delete(job, deletions);
      return { change: -count, error };
    }
    if (creations.length === 0) return { change: 0, error: undefined };
    const pods = creations.map((index) => jobPod(job, index));
    const { count, error } = await this.podControl.create(job, pods);
    return { change: count, error };
  }

  private async fail(key: string, cached: Job, state: JobState, plan: JobPlan) {
    const { job, finished, nowMs } = state;
    const { failure, deletions } = plan;
    if (!failure) return done;
    const { reason, message } = failure;
    const condition = jobCondition('Failed', 'True', nowMs, reason, message);
    const conditions = [...(job.status?.conditions ?? []), condition];
    const failed = finished.failed + deletions.length;
    const counts = { active: 0, succeeded: succeededCount(state), failed };
    const status = withCounts({ ...job.status, ...this.indexesOf(state), conditions }, counts);
    await this.writeStatus(cached, { status, events: [{ type: 'Warning', reason, message }] });
    this.forget(key);
    if (deletions.length === 0) return done;
    const { error } = await this.podControl.delete(job, deletions);
    if (error !== undefined) throw error;
    return done;
  }

  private statusOf(state: JobState, active: number, isManaged: boolean): StatusChange {
    const { job, finished, isSuspended, nowMs } = state;
    const succeeded = succeededCount(state);
    const counts = { active, succeeded, failed: finished.failed };
    const status = withCounts({ ...job.status, ...this.indexesOf(state) }, counts);
    const conditions = status.conditions ?? [];
    if (isComplete(job, succeeded, active)) {
      const complete = [...conditions, jobCondition('Complete', 'True', nowMs)];
      return {
        status: { ...status, completionTime: formatTime(nowMs), conditions: complete },
        events: completionEvents(job, succeeded, active),
      };
    }
    if (!isManaged || !this.context.features.enabled('SuspendJob')) return { status, events: [] };
    const change = withSuspension(conditions, isSuspended, nowMs);
    if (!change.event) return { status, events: [] };
    // The active deadline of a resumed job starts again.
    const startTime = isSuspended ? status.startTime : formatTime(nowMs);
    return {
      status: { ...status, conditions: change.conditions, ...(startTime && { startTime }) },
      events: [{ type: 'Normal', ...change.event }],
    };
  }

  private indexesOf({ job, pods }: JobState): Pick<JobStatus, 'completedIndexes'> {
    if (!isIndexed(job)) return {};
    const completedIndexes = formatIndexes(succeededIndexes(job, pods));
    return completedIndexes === '' ? {} : { completedIndexes };
  }

  /** @returns whether the status had to change. */
  private async writeStatus(job: Job, { status, events }: StatusChange): Promise<boolean> {
    let isChanged = false;
    const client = this.context.client.resource(resources.jobs, job.metadata?.namespace);
    await replaceStatus(client, job, (current) => {
      // A finished job does not change: the cache was behind.
      isChanged = !isJobFinished(current) && !sameStatus(current.status, status);
      return isChanged ? { ...current, status } : undefined;
    });
    if (!isChanged) return false;
    for (const { type, reason, message } of events) {
      this.recorder.event(job, type, reason, message);
    }
    return true;
  }

  /**
   * How long new failures wait. Everything else, such as a success or the deadline, is processed
   * immediately, and the failures with it.
   */
  private failurePauseMs(key: string, { job, finished }: JobState, plan: JobPlan): number {
    const { failed = 0, succeeded = 0 } = job.status ?? {};
    if (finished.failed <= failed || finished.succeeded !== succeeded) return 0;
    if (plan.failure?.reason === 'DeadlineExceeded') return 0;
    const generation = job.metadata?.generation ?? 0;
    return this.backoff.remainingMs(key, generation, this.context.clock.monotonicMs());
  }

  /** `before`: the status before this reconciliation. */
  private nextReconciliation(
    key: string,
    state: JobState,
    before: JobStatus | undefined,
  ): ReconcileResult {
    if (isJobFinished(state.job)) return done;
    const { status } = state.job;
    const waits: number[] = [];
    if ((status?.succeeded ?? 0) > (before?.succeeded ?? 0)) this.backoff.reset(key);
    else if ((status?.failed ?? 0) > (before?.failed ?? 0)) {
      const generation = state.job.metadata?.generation ?? 0;
      this.backoff.failed(key, generation, this.context.clock.monotonicMs());
    }
    const remainingMs = remainingActiveMs(state);
    if (remainingMs !== undefined) {
      waits.push(Math.min(Math.max(remainingMs, 1), limits.wallClockWaitMsMax));
    }
    return waits.length > 0 ? { requeueAfterMs: Math.min(...waits) } : done;
  }
}

function completionEvents({ spec }: Job, succeeded: number, active: number): JobEvent[] {
  const events: JobEvent[] = [];
  if (spec?.completions !== undefined && active > 0) {
    const message = 'Too many active pods running after completion count reached';
    events.push({ type: 'Warning', reason: 'TooManyActivePods', message });
  }
  if (spec?.completions !== undefined && succeeded > spec.completions) {
    const message = 'Too many succeeded pods running after completion count reached';
    events.push({ type: 'Warning', reason: 'TooManySucceededPods', message });
  }
  return [...events, { type: 'Normal', reason: 'Completed', message: 'Job completed' }];
}
