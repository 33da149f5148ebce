/**
 * Creates the sandbox, the volumes and the containers of a pod, and runs postStart hooks. Stores
 * which hooks still run, and the waiting states of containers. The worker decides when to create
 * what.
 */
import { mkdirSync } from 'node:fs';
import { errorMessage } from '@orch/component';
import type { Container, Pod } from '@orch/types/core/v1';
import { BrokenReference } from '../environment/referenced-objects.js';
import { hookTimeoutMs } from '../limits.js';
import { runHandler } from '../probes/handlers.js';
import type { ContainerId, PodIdentity } from '../runtimes/container-runtime.js';
import { ClaimMounts } from '../volumes/claim-mounts.js';
import { type PreparedVolumes, prepareVolumes } from '../volumes/pod-volumes.js';
import type { ContainerKiller } from './container-killer.js';
import { LaunchError, launchContainer } from './container-launcher.js';
import type { Waiting } from './container-statuses.js';
import { podHostname } from './etc-hosts.js';
import { graceSecondsDefault } from './grace-period.js';
import type { StartAction } from './pod-actions.js';
import {
  type PodContext,
  podDirectory,
  podLogDirectory,
  podReference,
  podTitle,
} from './pod-context.js';
import { initContainersOf, localIpOf, mainContainersOf, type PodView } from './pod-view.js';

export class PodLauncher {
  private readonly waiting = new Map<string, Waiting>();
  private readonly starting = new Set<ContainerId>();
  private readonly claims: ClaimMounts;

  constructor(
    private readonly context: PodContext,
    private readonly identity: PodIdentity,
    private readonly killer: ContainerKiller,
    /** Called when a hook has ended. */
    private readonly onChanged: () => void,
  ) {
    this.claims = new ClaimMounts(context.claims);
  }

  /** Whether the container's postStart hook is still running. */
  isStarting(id: ContainerId): boolean {
    return this.starting.has(id);
  }

  waitingState(name: string): Waiting | undefined {
    return this.waiting.get(name);
  }

  /** Creates a sandbox, replacing the current one. Records an event for a failure. */
  async createSandbox(view: PodView, attempt: number): Promise<void> {
    const { context, identity } = this;
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
      const message = `Failed to create pod sandbox: ${errorMessage(error)}`;
      context.recorder.event(podReference(identity), 'Warning', 'FailedCreatePodSandBox', message);
      throw error;
    }
  }

  /**
   * Returns the volumes by name; records an event and returns undefined if a volume fails.
   */
  async prepareVolumes(view: PodView): Promise<PreparedVolumes | undefined> {
    const { context, identity } = this;
    const directory = podDirectory(context, identity.uid);
    mkdirSync(directory, { recursive: true, mode: 0o750 });
    try {
      const projection = {
        pod: view.pod,
        addresses: { podIp: localIpOf(view, context.hostIp), hostIp: context.hostIp },
        allocatable: context.allocatable,
        objects: context.objects,
        accountTokens: context.accountTokens,
      };
      return await prepareVolumes(directory, projection, this.claims);
    } catch (error) {
      if (!(error instanceof BrokenReference)) throw error;
      context.recorder.event(podReference(identity), 'Warning', 'FailedMount', error.message);
      return undefined;
    }
  }

  /** Starts a container. Returns whether it runs; if not, `waitingState` has the reason. */
  async start(
    view: PodView,
    { container, attempt, previousFinishedMs }: StartAction,
    volumes: PreparedVolumes,
  ): Promise<boolean> {
    const { context, identity } = this;
    const { backoff, clock, recorder } = context;
    const { sandbox, pod } = view;
    if (!sandbox) return false;
    if (previousFinishedMs !== undefined) {
      backoff.started(this.backoffKey(container), previousFinishedMs, clock.nowMs());
    }
    try {
      const podIp = localIpOf(view, context.hostIp);
      const id = await launchContainer(context, {
        pod,
        container,
        attempt,
        sandboxId: sandbox.id,
        podIp,
        volumes,
      });
      this.waiting.delete(container.name);
      if (container.lifecycle?.postStart) this.runPostStart(id, pod, container, podIp);
      return true;
    } catch (error) {
      if (!(error instanceof LaunchError)) throw error;
      this.waiting.set(container.name, error.waiting);
      const message = `Error: ${error.message}`;
      recorder.event(podReference(identity, container.name), 'Warning', 'Failed', message);
      return false;
    }
  }

  /**
   * Runs the postStart hook; the container counts as running after it, and is killed if it fails.
   */
  private runPostStart(id: ContainerId, pod: Pod, container: Container, podIp: string): void {
    const { context, identity } = this;
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
        const graceMs = (pod.spec?.terminationGracePeriodSeconds ?? graceSecondsDefault) * 1000;
        this.killer.kill({ run, podIp, graceMs, reason: 'FailedPostStartHook' });
      })
      .catch((error: unknown) => {
        context.logger.warn(
          { err: error, pod: podTitle(identity) },
          'postStart hook could not be run',
        );
      })
      .finally(() => {
        this.starting.delete(id);
        this.onChanged();
      });
  }

  /** Records that the container waits for its back-off. */
  recordBackoff(view: PodView, name: string, waitMs: number): void {
    const { context, identity } = this;
    const container = [...initContainersOf(view.pod), ...mainContainersOf(view.pod)].find(
      (candidate) => candidate.name === name,
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

  /** Returns the key of the container's back-off. */
  backoffKey(container: Container): string {
    return `${this.identity.uid}/${container.name}/${container.image ?? ''}`;
  }
}
