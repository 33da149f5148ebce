/**
 * Brings one pod to its specification and keeps it there, and in the end takes it down. Level-based: each
 * sync looks at what is and does what is missing; syncs of a pod never overlap, and kills run beside
 * them. A pod that the API no longer has is ended and cleared away like one being deleted. How things are
 * made is `pod-launcher.ts`, how containers end `container-killer.ts`.
 */
import { rmSync } from 'node:fs';
import { isConflict, isNotFound, type RestClient, resources } from '@orch/client';
import { Backoff, type Timer } from '@orch/component';
import type { Pod } from '@orch/types/core/v1';
import { deadRunsKept, podResyncPeriodMs, podRetryInitialMs, podRetryMaxMs } from '../limits.js';
import { removeLogs } from '../logs/log-rotation.js';
import { terminationMessage } from '../logs/termination-message.js';
import type { ContainerStatus } from '../runtimes/container-runtime.js';
import { ContainerKiller } from './container-killer.js';
import { graceMs } from './grace-period.js';
import { podActions } from './pod-actions.js';
import {
  type PodContext,
  type PodIdentityFields,
  podDirectory,
  podLogDirectory,
  podTitle,
} from './pod-context.js';
import { type FailureReason, PodFailure } from './pod-failure.js';
import { PodLauncher } from './pod-launcher.js';
import { podStatus } from './pod-status.js';
import {
  allContainersOf,
  annotationKeys,
  hasEnded,
  hasRunning,
  initContainersOf,
  isFinished,
  localIpOf,
  mainContainersOf,
  type PodView,
  podIpOf,
  podView,
  runningRuns,
} from './pod-view.js';

export interface PodWorkerSettings {
  readonly context: PodContext;
  readonly client: RestClient;
  readonly identity: PodIdentityFields;
  readonly random: () => number;
  /** Nothing of the pod is left on this node. */
  onGone(): void;
}

export class PodWorker {
  /** Absent: the API does not know the pod. */
  private pod: Pod | undefined;
  /** Its hooks and grace periods hold even when the API has forgotten it. */
  private lastPod: Pod | undefined;
  private readonly failure: PodFailure;
  private readonly killer: ContainerKiller;
  private readonly launcher: PodLauncher;
  private readonly retry: Backoff;
  private timer: Timer | undefined;
  private running: Promise<void> | undefined;
  private wanted = false;
  private stopped = false;

  constructor(private readonly settings: PodWorkerSettings) {
    const { context, identity, random } = settings;
    this.killer = new ContainerKiller(context, identity, () => this.syncAfter(podRetryInitialMs));
    this.launcher = new PodLauncher(context, identity, this.killer, () => this.sync());
    this.failure = new PodFailure(context, identity);
    this.retry = new Backoff({
      initialMs: podRetryInitialMs,
      maxMs: podRetryMaxMs,
      factor: 2,
      jitter: 0.2,
      random,
    });
  }

  /** The newest version of the pod; undefined once the API does not have it any more. */
  update(pod: Pod | undefined): void {
    this.pod = pod;
    this.lastPod = pod ?? this.lastPod;
    this.sync();
  }

  get currentPod(): Pod | undefined {
    return this.pod;
  }

  /** Asks for a sync, soon. */
  sync(): void {
    this.wanted = true;
    if (this.running || this.stopped) return;
    this.timer?.cancel();
    this.running = this.syncAll().finally(() => {
      this.running = undefined;
      if (this.wanted && !this.stopped) this.sync();
    });
  }

  /** Lets go of the pod without ending it. */
  async stop(): Promise<void> {
    this.stopped = true;
    this.timer?.cancel();
    await this.running;
  }

  private syncAfter(delayMs: number): void {
    this.timer?.cancel();
    if (!this.stopped)
      this.timer = this.settings.context.clock.setTimer(delayMs, () => this.sync());
  }

  private async syncAll(): Promise<void> {
    const { context, identity } = this.settings;
    while (this.wanted && !this.stopped) {
      this.wanted = false;
      try {
        this.syncAfter(await this.syncOnce());
      } catch (error) {
        context.logger.error({ err: error, pod: podTitle(identity) }, 'pod sync failed');
        this.syncAfter(this.retry.nextMs());
      }
    }
  }

  /** Milliseconds after which to look again, if nothing happens before. */
  private async syncOnce(): Promise<number> {
    const view = await this.look();
    if (!this.pod || this.pod.metadata?.deletionTimestamp) return this.terminate(view);
    const failure = this.failure.check(view.pod);
    if (failure || isFinished(view) || hasEnded(view.pod)) return this.settle(view, failure);
    if (!view.pod.status?.startTime) this.report(view);
    const againMs = await this.act(view);
    this.report(await this.look());
    return againMs;
  }

  private async look(): Promise<PodView> {
    const { context, identity } = this.settings;
    const { runtime, statuses, prober } = context;
    const known = this.pod ?? this.lastPod;
    const pod: Pod = known ? statuses.newest(known) : { metadata: { ...identity }, spec: {} };
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
          podIp: localIpOf(view, this.settings.context.hostIp),
        },
      ];
    });
    prober.track(
      targets,
      containers.map(({ id }) => id),
    );
    return view;
  }

  /** Carries out what is missing. */
  private async act(view: PodView): Promise<number> {
    const { context } = this.settings;
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
      await this.makeSandbox(view, actions.newSandboxAttempt);
      this.wanted = true;
      return 0;
    }
    for (const [name, waitMs] of actions.backingOff) this.launcher.noteBackoff(view, name, waitMs);
    let againMs = Math.min(podResyncPeriodMs, this.failure.deadlineLeftMs(view.pod));
    for (const waitMs of actions.backingOff.values()) againMs = Math.min(againMs, waitMs);
    const volumes = await this.launcher.volumes(view);
    if (!volumes) return Math.min(againMs, this.retry.nextMs());
    let failed = false;
    for (const start of actions.start) {
      if (!(await this.launcher.start(view, start, volumes))) failed = true;
    }
    await this.removeDeadRuns(view);
    if (failed) return Math.min(againMs, this.retry.nextMs());
    this.retry.reset();
    return againMs;
  }

  private async makeSandbox(view: PodView, attempt: number): Promise<void> {
    try {
      await this.launcher.makeSandbox(view, attempt);
    } catch (error) {
      this.report(view);
      throw error;
    }
  }

  private kill(view: PodView, run: ContainerStatus, graceMs: number, reason?: string): void {
    const container = allContainersOf(view.pod).find(({ name }) => name === run.name);
    this.killer.kill({
      run,
      podIp: localIpOf(view, this.settings.context.hostIp),
      graceMs,
      ...(container ? { container } : {}),
      ...(reason === undefined ? {} : { reason }),
    });
  }

  /** Finished, by itself or by us: ends what still runs and gives the network back. Kept for its logs. */
  private async settle(view: PodView, failure: FailureReason | undefined): Promise<number> {
    for (const run of runningRuns(view)) this.kill(view, run, graceMs(view.pod, run));
    this.report(view, failure);
    if (!hasRunning(view) && view.sandbox?.state === 'ready') {
      await this.settings.context.runtime.stopSandbox(view.sandbox.id);
    }
    return podResyncPeriodMs;
  }

  /** The pod is to go: ends it, reports how it ended, clears it away, and lets the API forget it. */
  private async terminate(view: PodView): Promise<number> {
    const { context, client, identity } = this.settings;
    const running = runningRuns(view);
    for (const run of running) this.kill(view, run, graceMs(view.pod, run));
    if (this.pod) this.report(view, this.failure.current);
    if (running.length > 0) return podResyncPeriodMs;
    if (this.pod) await context.statuses.settled(identity.uid);
    await this.clearAway();
    if (this.pod) {
      try {
        await client.resource(resources.pods, identity.namespace).delete(identity.name, {
          gracePeriodSeconds: 0,
          preconditions: { uid: identity.uid },
        });
      } catch (error) {
        if (!isNotFound(error) && !isConflict(error)) throw error;
      }
      // What holds it back now are finalizers, and those are not the agent's.
      if (this.pod?.metadata?.finalizers?.length) return podResyncPeriodMs;
    }
    this.stopped = true;
    this.settings.onGone();
    return podResyncPeriodMs;
  }

  private async clearAway(): Promise<void> {
    const { context, identity } = this.settings;
    const { runtime, prober, backoff } = context;
    for (const { id } of await runtime.listContainers(identity.uid)) prober.forget(id);
    for (const { id } of await runtime.listSandboxes(identity.uid)) await runtime.removeSandbox(id);
    backoff.forget(`${identity.uid}/`);
    rmSync(podDirectory(context, identity.uid), { recursive: true, force: true });
    rmSync(podLogDirectory(context, identity), { recursive: true, force: true });
  }

  private async removeDeadRuns(view: PodView): Promise<void> {
    for (const runs of view.runs.values()) {
      const dead = runs.slice(1).filter(({ state }) => state !== 'running');
      for (const run of dead.slice(deadRunsKept)) {
        await this.settings.context.runtime.removeContainer(run.id);
        removeLogs(run.logPath);
      }
    }
  }

  private report(view: PodView, failure?: FailureReason): void {
    const { context } = this.settings;
    // What the runtime does not know of a pod that has ended, the API knows better.
    if (!this.pod || (view.runs.size === 0 && hasEnded(view.pod))) return;
    const podIp = podIpOf(view, context.hostIp);
    const containerCount = initContainersOf(view.pod).length + mainContainersOf(view.pod).length;
    const status = podStatus(view, {
      runtimeName: context.runtimeName,
      nowMs: context.clock.nowMs(),
      hostIp: context.hostIp,
      ...(podIp ? { podIp } : {}),
      ...(failure ? { failure } : {}),
      probe: (id, kind) => context.prober.result(id, kind),
      waiting: (name) => this.launcher.waitingOf(name),
      isStarting: (id) => this.launcher.isStarting(id),
      terminationMessage: (run) => {
        const messagePath = run.annotations[annotationKeys.messagePath];
        return terminationMessage({
          ...(messagePath === undefined ? {} : { messagePath }),
          logPath: run.logPath,
          policy: run.annotations[annotationKeys.messagePolicy] ?? 'File',
          exitCode: run.exitCode ?? 0,
          containerCount,
        });
      },
    });
    context.statuses.set(view.pod, status);
  }
}
