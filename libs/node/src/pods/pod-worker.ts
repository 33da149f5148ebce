/**
 * Brings one pod to its specification and keeps it there, and in the end takes it down. Level-based: each
 * sync looks at what is and does what is missing; syncs of a pod never overlap, and kills run beside
 * them. A pod that the API no longer has is ended and cleared away like one being deleted.
 */
import { mkdirSync, rmSync } from 'node:fs';
import { parseTime } from '@orch/apimachinery';
import { isConflict, isNotFound, type RestClient, resources } from '@orch/client';
import { Backoff, type Timer } from '@orch/component';
import type { Container, Pod } from '@orch/types/core/v1';
import { BrokenReference } from '../environment/referenced-objects.js';
import {
  deadRunsKept,
  hookTimeoutMs,
  podResyncPeriodMs,
  podRetryInitialMs,
  podRetryMaxMs,
} from '../limits.js';
import { removeLogs } from '../logs/log-rotation.js';
import { terminationMessage } from '../logs/termination-message.js';
import { runHandler } from '../probes/handlers.js';
import type { ContainerId, ContainerStatus } from '../runtimes/container-runtime.js';
import { prepareVolumes } from '../volumes/pod-volumes.js';
import { ContainerKiller } from './container-killer.js';
import { LaunchError, launchContainer } from './container-launcher.js';
import type { Waiting } from './container-statuses.js';
import { podHostname } from './etc-hosts.js';
import { podActions, type StartAction } from './pod-actions.js';
import {
  type PodContext,
  type PodIdentityFields,
  podDirectory,
  podLogDirectory,
  podReference,
  podTitle,
} from './pod-context.js';
import { podStatus } from './pod-status.js';
import {
  annotationKeys,
  hasRunning,
  initContainersOf,
  isFinished,
  mainContainersOf,
  type PodView,
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
  private failure: { reason: string; message: string } | undefined;
  private readonly waiting = new Map<string, Waiting>();
  private readonly starting = new Set<ContainerId>();
  private readonly killer: ContainerKiller;
  private readonly retry: Backoff;
  private timer: Timer | undefined;
  private running: Promise<void> | undefined;
  private wanted = false;
  private stopped = false;

  constructor(private readonly settings: PodWorkerSettings) {
    const { context, identity, random } = settings;
    this.killer = new ContainerKiller(context, identity, () => this.syncAfter(podRetryInitialMs));
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
    const failure = this.failureOf(view);
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
    const running = runningRuns(view).filter(({ id }) => !this.starting.has(id));
    const main = new Map(mainContainersOf(pod).map((container) => [container.name, container]));
    const targets = running.flatMap((run) => {
      const container = main.get(run.name);
      if (!container || this.killer.isKilling(run.id)) return [];
      const startedAtMs = run.startedAtMs ?? run.createdAtMs;
      return [
        { containerId: run.id, container, startedAtMs, pod: identity, podIp: this.localIp(view) },
      ];
    });
    prober.track(
      targets,
      containers.map(({ id }) => id),
    );
    return view;
  }

  /** Whether the agent has to end the pod for a reason of its own. */
  private failureOf(view: PodView): { reason: string; message: string } | undefined {
    const { spec, status } = view.pod;
    if (this.failure) return this.failure;
    if (status?.phase === 'Failed' && status.reason) {
      this.failure = { reason: status.reason, message: status.message ?? '' };
      return this.failure;
    }
    const leftMs = this.deadlineLeftMs(view.pod);
    if (spec?.activeDeadlineSeconds === undefined || leftMs > 0) return undefined;
    this.failure = {
      reason: 'DeadlineExceeded',
      message: 'Pod was active on the node longer than the specified deadline',
    };
    const { context, identity } = this.settings;
    context.recorder.event(
      podReference(identity),
      'Normal',
      'DeadlineExceeded',
      this.failure.message,
    );
    return this.failure;
  }

  private deadlineLeftMs({ spec, status }: Pod): number {
    const startedMs = parseTime(status?.startTime);
    if (spec?.activeDeadlineSeconds === undefined || startedMs === undefined) {
      return Number.POSITIVE_INFINITY;
    }
    return startedMs + spec.activeDeadlineSeconds * 1000 - this.settings.context.clock.nowMs();
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
          : backoff.remainingMs(this.backoffKey(container), run.finishedAtMs, clock.nowMs()),
    });
    for (const { run, reason, probe } of actions.kill) {
      this.kill(view, run, this.graceMs(view.pod, run, probe), reason);
    }
    if (actions.kill.length === 0 && actions.newSandboxAttempt !== undefined) {
      await this.makeSandbox(view, actions.newSandboxAttempt);
      this.wanted = true;
      return 0;
    }
    for (const [name, waitMs] of actions.backingOff) this.noteBackoff(view, name, waitMs);
    let againMs = Math.min(podResyncPeriodMs, this.deadlineLeftMs(view.pod));
    for (const waitMs of actions.backingOff.values()) againMs = Math.min(againMs, waitMs);
    const volumes = await this.volumes(view);
    if (!volumes) return Math.min(againMs, this.retry.nextMs());
    let failed = false;
    for (const start of actions.start) {
      if (!(await this.start(view, start, volumes))) failed = true;
    }
    await this.removeDeadRuns(view);
    if (failed) return Math.min(againMs, this.retry.nextMs());
    this.retry.reset();
    return againMs;
  }

  private async makeSandbox(view: PodView, attempt: number): Promise<void> {
    const { context, identity } = this.settings;
    const { spec } = view.pod;
    if (view.sandbox) {
      const message = 'Pod sandbox changed, it will be killed and re-created.';
      context.recorder.event(podReference(identity), 'Normal', 'SandboxChanged', message);
      await context.runtime.stopSandbox(view.sandbox.id);
    }
    try {
      await context.runtime.runSandbox({
        pod: identity,
        attempt,
        hostname: podHostname(view.pod),
        logDirectory: podLogDirectory(context, identity),
        hostNetwork: spec?.hostNetwork ?? false,
        hostPid: spec?.hostPID ?? false,
      });
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      const message = `Failed to create pod sandbox: ${why}`;
      context.recorder.event(podReference(identity), 'Warning', 'FailedCreatePodSandBox', message);
      this.report(view);
      throw error;
    }
  }

  /** Undefined if they cannot be made now; an event says why. */
  private async volumes(view: PodView): Promise<ReadonlyMap<string, string> | undefined> {
    const { context, identity } = this.settings;
    const directory = podDirectory(context, identity.uid);
    mkdirSync(directory, { recursive: true, mode: 0o750 });
    try {
      return await prepareVolumes(directory, {
        pod: view.pod,
        addresses: { podIp: this.localIp(view), hostIp: context.hostIp },
        allocatable: context.allocatable,
        objects: context.objects,
        accountTokens: context.accountTokens,
      });
    } catch (error) {
      if (!(error instanceof BrokenReference)) throw error;
      context.recorder.event(podReference(identity), 'Warning', 'FailedMount', error.message);
      return undefined;
    }
  }

  private async start(
    view: PodView,
    { container, attempt, previousFinishedMs }: StartAction,
    volumes: ReadonlyMap<string, string>,
  ): Promise<boolean> {
    const { context, identity } = this.settings;
    const { backoff, clock, recorder } = context;
    const { sandbox, pod } = view;
    if (!sandbox) return false;
    if (previousFinishedMs !== undefined) {
      backoff.started(this.backoffKey(container), previousFinishedMs, clock.nowMs());
    }
    try {
      const podIp = this.localIp(view);
      const id = await launchContainer(context, {
        pod,
        container,
        attempt,
        sandboxId: sandbox.id,
        podIp,
        volumes,
      });
      this.waiting.delete(container.name);
      if (container.lifecycle?.postStart) this.runPostStart(id, container, podIp);
      return true;
    } catch (error) {
      if (!(error instanceof LaunchError)) throw error;
      this.waiting.set(container.name, error.waiting);
      const message = `Error: ${error.message}`;
      recorder.event(podReference(identity, container.name), 'Warning', 'Failed', message);
      return false;
    }
  }

  /** The container counts as running once its hook is through; it is ended if the hook fails. */
  private runPostStart(id: ContainerId, container: Container, podIp: string): void {
    const { context, identity } = this.settings;
    const hook = container.lifecycle?.postStart;
    if (!hook) return;
    this.starting.add(id);
    const target = { runtime: context.runtime, containerId: id, container, podIp };
    runHandler(hook, target, hookTimeoutMs)
      .then(async ({ succeeded, output }) => {
        if (succeeded) return;
        const regarding = podReference(identity, container.name);
        const message = `PostStartHook failed: ${output}`;
        context.recorder.event(regarding, 'Warning', 'FailedPostStartHook', message);
        const run = await context.runtime.containerStatus(id);
        const graceMs = (this.pod?.spec?.terminationGracePeriodSeconds ?? 30) * 1000;
        this.killer.kill({ run, podIp, graceMs, reason: 'FailedPostStartHook' });
      })
      .catch((error: unknown) => {
        context.logger.warn({ err: error, pod: podTitle(identity) }, 'postStart hook lost');
      })
      .finally(() => {
        this.starting.delete(id);
        this.sync();
      });
  }

  private noteBackoff(view: PodView, name: string, waitMs: number): void {
    const { context, identity } = this.settings;
    const container = [...initContainersOf(view.pod), ...mainContainersOf(view.pod)].find(
      (one) => one.name === name,
    );
    if (!container || waitMs <= 0) return;
    const seconds = Math.round(context.backoff.delayMs(this.backoffKey(container)) / 1000);
    const pause = seconds >= 60 ? `${Math.floor(seconds / 60)}m${seconds % 60}s` : `${seconds}s`;
    const message = `back-off ${pause} restarting failed container=${name} pod=${podTitle(identity)}`;
    if (this.waiting.get(name)?.message === message) return;
    this.waiting.set(name, { reason: 'CrashLoopBackOff', message });
    const regarding = podReference(identity, name);
    context.recorder.event(regarding, 'Warning', 'BackOff', 'Back-off restarting failed container');
  }

  private kill(view: PodView, run: ContainerStatus, graceMs: number, reason?: string): void {
    const containers = [...initContainersOf(view.pod), ...mainContainersOf(view.pod)];
    const container = containers.find(({ name }) => name === run.name);
    this.killer.kill({
      run,
      podIp: this.localIp(view),
      graceMs,
      ...(container ? { container } : {}),
      ...(reason === undefined ? {} : { reason }),
    });
  }

  private graceMs(
    pod: Pod,
    run: ContainerStatus,
    probe?: 'startup' | 'liveness' | 'readiness',
  ): number {
    const recorded = Number(run.annotations[annotationKeys.graceSeconds] ?? 30);
    const { deletionGracePeriodSeconds, deletionTimestamp } = pod.metadata ?? {};
    if (deletionTimestamp) return (deletionGracePeriodSeconds ?? recorded) * 1000;
    const container = mainContainersOf(pod).find(({ name }) => name === run.name);
    const own =
      probe === 'startup' ? container?.startupProbe : probe ? container?.livenessProbe : undefined;
    const seconds = own?.terminationGracePeriodSeconds ?? pod.spec?.terminationGracePeriodSeconds;
    return (seconds ?? recorded) * 1000;
  }

  /** Finished, by itself or by us: ends what still runs and gives the network back. Kept for its logs. */
  private async settle(
    view: PodView,
    failure: { reason: string; message: string } | undefined,
  ): Promise<number> {
    for (const run of runningRuns(view)) this.kill(view, run, this.graceMs(view.pod, run));
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
    for (const run of running) this.kill(view, run, this.graceMs(view.pod, run));
    if (this.pod) this.report(view, this.failure);
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

  private report(view: PodView, failure?: { reason: string; message: string }): void {
    const { context } = this.settings;
    // What the runtime does not know of a pod that has ended, the API knows better.
    if (!this.pod || (view.runs.size === 0 && hasEnded(view.pod))) return;
    const podIp = this.podIp(view);
    const containerCount = initContainersOf(view.pod).length + mainContainersOf(view.pod).length;
    const status = podStatus(view, {
      runtimeName: context.runtimeName,
      nowMs: context.clock.nowMs(),
      hostIp: context.hostIp,
      ...(podIp ? { podIp } : {}),
      ...(failure ? { failure } : {}),
      probe: (id, kind) => context.prober.result(id, kind),
      waiting: (name) => this.waiting.get(name),
      isStarting: (id) => this.starting.has(id),
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

  private podIp(view: PodView): string {
    if (view.pod.spec?.hostNetwork) return view.sandbox ? this.settings.context.hostIp : '';
    // A stopped sandbox has given its address back; the pod is still known by it.
    return view.sandbox?.podIp ?? view.pod.status?.podIP ?? '';
  }

  /** What programs in the pod listen on, and where the agent reaches them. */
  private localIp(view: PodView): string {
    return view.sandbox?.localIp ?? this.podIp(view);
  }

  private backoffKey(container: Container): string {
    return `${this.settings.identity.uid}/${container.name}/${container.image ?? ''}`;
  }
}

/** Its phase never changes again. */
function hasEnded(pod: Pod): boolean {
  return pod.status?.phase === 'Succeeded' || pod.status?.phase === 'Failed';
}
