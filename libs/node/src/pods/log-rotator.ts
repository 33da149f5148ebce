/** Rotates the logs of all running containers periodically, and counts the containers by state. */
import type { Clock, Logger, Metrics, Timer } from '@orch/component';
import { logRotationPeriodMs } from '../limits.js';
import { type RotationOptions, rotateLog } from '../logs/log-rotation.js';
import type { ContainerRuntime } from '../runtimes/container-runtime.js';

export interface LogRotatorDependencies {
  readonly runtime: ContainerRuntime;
  readonly metrics: Metrics;
  readonly rotation: RotationOptions;
  readonly clock: Clock;
  readonly logger: Logger;
}

export class LogRotator {
  private readonly containerCounts;
  private timer: Timer | undefined;
  private stopped = false;

  constructor(private readonly dependencies: LogRotatorDependencies) {
    this.containerCounts = dependencies.metrics.gauge({
      name: 'kubelet_running_containers',
      help: 'Containers by state, as of the last log rotation',
      labels: ['container_state'],
    });
  }

  start(): void {
    const { clock, logger } = this.dependencies;
    this.timer = clock.setTimer(logRotationPeriodMs, () => {
      this.rotateAll()
        .catch((error: unknown) => logger.error({ err: error }, 'log rotation failed'))
        .finally(() => {
          if (!this.stopped) this.start();
        });
    });
  }

  stop(): void {
    this.stopped = true;
    this.timer?.cancel();
  }

  private async rotateAll(): Promise<void> {
    const { runtime, rotation, clock } = this.dependencies;
    const containers = await runtime.listContainers();
    for (const state of ['created', 'running', 'exited', 'unknown'] as const) {
      const count = containers.filter((container) => container.state === state).length;
      this.containerCounts.set({ container_state: state }, count);
    }
    for (const { id, state, logPath } of containers) {
      if (state === 'running' && rotateLog(logPath, rotation, clock.nowMs())) {
        await runtime.reopenContainerLog(id);
      }
    }
  }
}
