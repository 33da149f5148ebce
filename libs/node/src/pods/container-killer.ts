/**
 * Kills containers of one pod gracefully: preStop hook, TERM, KILL, all within the grace period.
 * Kills run concurrently to the worker; another request for the same container can only shorten the
 * grace period.
 */

import { withDeadline } from '@orch/component';
import type { Container } from '@orch/types/core/v1';
import { terminationGraceMinMs } from '../limits.js';
import { runHandler } from '../probes/handlers.js';
import {
  type ContainerId,
  type ContainerStatus,
  type PodIdentity,
  RuntimeError,
} from '../runtimes/container-runtime.js';
import { type PodContext, podReference } from './pod-context.js';

export interface KillRequest {
  readonly run: ContainerStatus;
  /** The specification with the preStop hook, if it is still known. */
  readonly container?: Container;
  readonly podIp: string;
  readonly graceMs: number;
  /** The message of the event; a default one if absent. */
  readonly reason?: string;
}

interface Kill {
  readonly deadlineMs: number;
}

export class ContainerKiller {
  private readonly inProgress = new Map<ContainerId, Kill>();

  constructor(
    private readonly context: PodContext,
    private readonly pod: PodIdentity,
    /** Called when a kill has failed and must be requested again. */
    private readonly onFailed: () => void,
  ) {}

  isKilling(id: ContainerId): boolean {
    return this.inProgress.has(id);
  }

  /**
   * Starts to kill the container, or shortens the grace period of a running kill. Does not wait.
   */
  kill(request: KillRequest): void {
    const { clock, logger } = this.context;
    const { id } = request.run;
    const kill = { deadlineMs: clock.monotonicMs() + request.graceMs };
    const current = this.inProgress.get(id);
    // Two syncs with the same grace period differ by less than half a second.
    if (current && current.deadlineMs <= kill.deadlineMs + 500) return;
    this.inProgress.set(id, kill);
    const work = current
      ? this.context.runtime.stopContainer(id, request.graceMs)
      : this.killOnce(request);
    work
      .catch((error: unknown) => {
        if (error instanceof RuntimeError && error.code === 'NotFound') return;
        logger.error({ err: error, pod: this.pod, container: request.run.name }, 'kill failed');
        this.onFailed();
      })
      .finally(() => {
        if (this.inProgress.get(id) === kill) this.inProgress.delete(id);
      });
  }

  private async killOnce(request: KillRequest): Promise<void> {
    const { clock, recorder, runtime } = this.context;
    const { run, container, graceMs } = request;
    const startedMs = clock.monotonicMs();
    const regarding = podReference(this.pod, run.name);
    recorder.event(
      regarding,
      'Normal',
      'Killing',
      request.reason ?? `Stopping container ${run.name}`,
    );
    const hook = container?.lifecycle?.preStop;
    if (hook && container && graceMs > 0) {
      const target = { runtime, containerId: run.id, container, podIp: request.podIp };
      const { succeeded, output } = await withDeadline(
        runHandler(hook, target, graceMs),
        graceMs + 1_000,
        'preStop hook',
        clock,
      );
      if (!succeeded) {
        recorder.event(regarding, 'Warning', 'FailedPreStopHook', `PreStopHook failed: ${output}`);
      }
    }
    const leftMs = graceMs - (clock.monotonicMs() - startedMs);
    // The container gets a TERM even if the hook has consumed the grace period.
    await runtime.stopContainer(
      run.id,
      graceMs === 0 ? 0 : Math.max(leftMs, terminationGraceMinMs),
    );
  }
}
