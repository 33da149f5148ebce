/**
 * Ends containers of one pod gracefully: preStop hook, TERM, KILL, all within the grace period. Runs
 * beside the worker, which looks on; asking again may only shorten what is under way.
 */

import { withDeadline } from '@orch/component';
import type { Container } from '@orch/types/core/v1';
import { terminationGraceMinMs } from '../limits.js';
import { runHandler } from '../probes/handlers.js';
import {
  type ContainerId,
  type ContainerStatus,
  RuntimeError,
} from '../runtimes/container-runtime.js';
import { type PodContext, type PodIdentityFields, podReference } from './pod-context.js';

export interface KillRequest {
  readonly run: ContainerStatus;
  /** Its specification, where it is still known: it holds the preStop hook. */
  readonly container?: Container;
  readonly podIp: string;
  readonly graceMs: number;
  /** For the event; the usual words when left out. */
  readonly reason?: string;
}

interface Killing {
  readonly deadlineMs: number;
}

export class ContainerKiller {
  private readonly under = new Map<ContainerId, Killing>();

  constructor(
    private readonly context: PodContext,
    private readonly pod: PodIdentityFields,
    /** A kill has failed and must be asked for again. */
    private readonly onFailed: () => void,
  ) {}

  isKilling(id: ContainerId): boolean {
    return this.under.has(id);
  }

  /** Begins to end the container, or brings the end forward. Never waits. */
  kill(request: KillRequest): void {
    const { clock, logger } = this.context;
    const { id } = request.run;
    const killing = { deadlineMs: clock.monotonicMs() + request.graceMs };
    const current = this.under.get(id);
    // Half a second of difference is the time between two looks, not another wish.
    if (current && current.deadlineMs <= killing.deadlineMs + 500) return;
    this.under.set(id, killing);
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
        if (this.under.get(id) === killing) this.under.delete(id);
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
    // Even where the hook took all the time, the container is asked before it is killed.
    await runtime.stopContainer(
      run.id,
      graceMs === 0 ? 0 : Math.max(leftMs, terminationGraceMinMs),
    );
  }
}
