/**
 * Reconciles one pod with its specification, and removes it in the end. Level-based: each sync
 * observes the current state and performs the missing actions. Syncs of a pod never overlap; kills
 * run concurrently. A pod that the API no longer has is ended and removed like a deleted one.
 * `pod-launcher.ts` creates sandboxes and containers, `container-killer.ts` ends containers.
 */
import { type ApiClient, isConflict, isNotFound, resources } from '@orch/client';
import { Backoff, type Timer } from '@orch/component';
import type { Pod } from '@orch/types/core/v1';
import { podResyncPeriodMs, podRetryInitialMs, podRetryMaxMs } from '../limits.js';
import type { ContainerStatus, PodIdentity } from '../runtimes/container-runtime.js';
import { ContainerKiller } from './container-killer.js';
import { graceMs } from './grace-period.js';
import { podActions } from './pod-actions.js';
import { removeDeadRuns, removePod } from './pod-cleanup.js';
import { type PodContext, podTitle } from './pod-context.js';
import { type FailureReason, PodFailure } from './pod-failure.js';
import { PodLauncher } from './pod-launcher.js';
import { PodReporter } from './pod-reporter.js';
import {
  allContainersOf,
  hasEnded,
  hasRunning,
  isFinished,
  localIpOf,
  mainContainersOf,
  type PodView,
  podView,
  runningRuns,
} from './pod-view.js';

export interface PodWorkerDependencies {
  readonly context: PodContext;
  readonly client: ApiClient;
  readonly identity: PodIdentity;
  readonly random: () => number;
  /** Called when nothing of the pod remains on this node. */
  onRemoved(): void;
}

export class PodWorker {
  /** Undefined if the API does not have the pod. */
  private pod: Pod | undefined;
  /**
   * The last known version; its hooks and grace periods apply after the API has removed the pod.
   */
  private lastPod: Pod | undefined;
  private readonly failure: PodFailure;
  private readonly killer: ContainerKiller;
  private readonly launcher: PodLauncher;
  private readonly reporter: PodReporter;
  private readonly retry: Backoff;
  private timer: Timer | undefined;
  private running: Promise<void> | undefined;
  /** Start of the sync in progress, on the monotonic clock. */
  private syncStartMs: number | undefined;
  private pending = false;
  private stopped = false;

  constructor(private readonly dependencies: PodWorkerDependencies) {
    const { context, identity, random } = dependencies;
    this.killer = new ContainerKiller(context, identity, () => this.syncAfter(podRetryInitialMs));
    this.launcher = new PodLauncher(context, identity, this.killer, () => this.sync());
    this.reporter = new PodReporter(context, this.launcher);
    this.failure = new PodFailure(context, identity);
    this.retry = new Backoff({
      initialMs: podRetryInitialMs,
      maxMs: podRetryMaxMs,
      factor: 2,
      jitter: 0.2,
      random,
    });
  }

  /** Sets the newest version of the pod; undefined if the API no longer has it. */
  update(pod: Pod | undefined): void {
    this.pod = pod;
    this.lastPod = pod ?? this.lastPod;
    this.sync();
  }

  get currentPod(): Pod | undefined {
    return this.pod;
  }

  /** How long the sync in progress has taken; 0 if there is none. */
  get syncDurationMs(): number {
    const nowMs = this.dependencies.context.clock.monotonicMs();
    return this.syncStartMs === undefined ? 0 : nowMs - this.syncStartMs;
  }

  /** Requests a sync. */
  sync(): void {
    this.pending = true;
    if (this.running || this.stopped) return;
    this.timer?.cancel();
    this.running = this.syncAll().finally(() => {
      this.running = undefined;
      if (this.pending && !this.stopped) this.sync();
    });
  }

  /** Stops managing the pod, which continues to run. */
  async stop(): Promise<void> {
    this.stopped = true;
    this.timer?.cancel();
    await this.running;
  }

  private syncAfter(delayMs: number): void {
    this.timer?.cancel();
    if (this.stopped) return;
    this.timer = this.dependencies.context.clock.setTimer(delayMs, () => this.sync());
  }

  private async syncAll(): Promise<void> {
    const { context, identity } = this.dependencies;
    while (this.pending && !this.stopped) {
      this.pending = false;
      this.syncStartMs = context.clock.monotonicMs();
      try {
        this.syncAfter(await this.syncOnce());
      } catch (error) {
        context.logger.error({ err: error, pod: podTitle(identity) }, 'pod sync failed');
        this.syncAfter(this.retry.nextMs());
      } finally {
        this.syncStartMs = undefined;
      }
    }
  }

  /** Returns the milliseconds until the next sync, unless an event requests one earlier. */
  private async syncOnce(): Promise<number> {
    const view = await this.observe();
    if (!this.pod || this.pod.metadata?.deletionTimestamp) return this.terminate(view);
    const failure = this.failure.check(view.pod);
    if (failure || isFinished(view) || hasEnded(view.pod)) return this.finish(view, failure);
    if (!view.pod.status?.startTime) this.report(view);
    const nextSyncMs = await this.reconcile(view);
    this.report(await this.observe());
    return nextSyncMs;
  }

  /** Reads the state of the pod from the runtime, and probes its running containers. */
  private async observe(): Promise<PodView> {
    const { context, identity } = this.dependencies;
    const { runtime, statuses, prober } = context;
    const latest = this.pod ?? this.lastPod;
    const pod: Pod = latest ? statuses.newest(latest) : { metadata: { ...identity }, spec: {} };
    const [sandboxes, containers] = await Promise.all([
      runtime.listSandboxes(identity.uid),
      runtime.listContainers(identity.uid),
    ]);
    const view = podView(pod, sandboxes, containers);
    const running = runningRuns(view).filter(({ id }) => !this.launcher.isStarting(id));
    const main = new Map(mainContainersOf(pod).map((container) => [container.name, container]));
    const targets = running.flatMap((run) => {
      const container = main.get(run.name);
      if (!container || this.killer.isKilling(run.id)) return [];
      const startedAtMs = run.startedAtMs ?? run.createdAtMs;
      return [
        {
          containerId: run.id,
          container,
          startedAtMs,
          pod: identity,
          podIp: localIpOf(view, this.dependencies.context.hostIp),
        },
      ];
    });
    prober.track(
      targets,
      containers.map(({ id }) => id),
    );
    return view;
  }

  /** Performs the missing actions. Returns the milliseconds until the next sync. */
  private async reconcile(view: PodView): Promise<number> {
    const { context } = this.dependencies;
    const { clock, prober, backoff } = context;
    const actions = podActions(view, {
      probe: (id, kind) => prober.result(id, kind),
      backoffMs: (container, run) =>
        run.finishedAtMs === undefined
          ? 0
          : backoff.remainingMs(
              this.launcher.backoffKey(container),
              run.finishedAtMs,
              clock.nowMs(),
            ),
    });
    for (const { run, reason, probe } of actions.kill) {
      this.kill(view, run, graceMs(view.pod, run, probe), reason);
    }
    if (actions.kill.length === 0 && actions.newSandboxAttempt !== undefined) {
      await this.createSandbox(view, actions.newSandboxAttempt);
      this.pending = true;
      return 0;
    }
    for (const [name, waitMs] of actions.backingOff)
      this.launcher.recordBackoff(view, name, waitMs);
    let nextSyncMs = Math.min(podResyncPeriodMs, this.failure.deadlineLeftMs(view.pod));
    for (const waitMs of actions.backingOff.values()) nextSyncMs = Math.min(nextSyncMs, waitMs);
    const volumes = await this.launcher.prepareVolumes(view);
    if (!volumes) return Math.min(nextSyncMs, this.retry.nextMs());
    let failed = false;
    for (const start of actions.start) {
      if (!(await this.launcher.start(view, start, volumes))) failed = true;
    }
    await removeDeadRuns(context, view);
    if (failed) return Math.min(nextSyncMs, this.retry.nextMs());
    this.retry.reset();
    return nextSyncMs;
  }

  private async createSandbox(view: PodView, attempt: number): Promise<void> {
    try {
      await this.launcher.createSandbox(view, attempt);
    } catch (error) {
      this.report(view);
      throw error;
    }
  }

  private kill(view: PodView, run: ContainerStatus, graceMs: number, reason?: string): void {
    const container = allContainersOf(view.pod).find(({ name }) => name === run.name);
    this.killer.kill({
      run,
      podIp: localIpOf(view, this.dependencies.context.hostIp),
      graceMs,
      ...(container ? { container } : {}),
      ...(reason === undefined ? {} : { reason }),
    });
  }

  /**
   * Ends the containers of a finished pod and releases its network. The logs remain until its
   * deletion.
   */
  private async finish(view: PodView, failure: FailureReason | undefined): Promise<number> {
    for (const run of runningRuns(view)) this.kill(view, run, graceMs(view.pod, run));
    this.report(view, failure);
    if (!hasRunning(view) && view.sandbox?.state === 'ready') {
      await this.dependencies.context.runtime.stopSandbox(view.sandbox.id);
    }
    return podResyncPeriodMs;
  }

  /**
   * Ends a deleted pod, reports its final status, removes it from the node and then from the API.
   */
  private async terminate(view: PodView): Promise<number> {
    const { context, client, identity } = this.dependencies;
    const running = runningRuns(view);
    for (const run of running) this.kill(view, run, graceMs(view.pod, run));
    if (this.pod) this.report(view, this.failure.current);
    if (running.length > 0) return podResyncPeriodMs;
    if (this.pod) await context.statuses.whenWritten(identity.uid);
    await removePod(context, identity);
    if (this.pod) {
      try {
        await client.resource(resources.pods, identity.namespace).delete(identity.name, {
          gracePeriodSeconds: 0,
          preconditions: { uid: identity.uid },
        });
      } catch (error) {
        if (!isNotFound(error) && !isConflict(error)) throw error;
      }
      // Other components remove the finalizers.
      if (this.pod?.metadata?.finalizers?.length) return podResyncPeriodMs;
    }
    this.stopped = true;
    this.dependencies.onRemoved();
    return podResyncPeriodMs;
  }

  private report(view: PodView, failure?: FailureReason): void {
    this.reporter.report(this.pod, view, failure);
  }
}
