/** Checks periodically that etcd responds and that its changes arrive, also without readers. */
import type { Clock, Logger, Timer } from '@orch/component';
import { probeIntervalMs } from './limits.js';

export class Probe {
  /** Error of the last check. */
  failure: string | undefined;
  private timer: Timer | undefined;
  private stopped = false;

  constructor(
    private readonly clock: Clock,
    private readonly logger: Logger,
    private readonly check: () => Promise<void>,
  ) {}

  start(): void {
    this.timer = this.clock.setTimer(probeIntervalMs, () => void this.run());
  }

  stop(): void {
    this.stopped = true;
    this.timer?.cancel();
  }

  private async run(): Promise<void> {
    try {
      await this.check();
      if (this.failure !== undefined) this.logger.info({}, 'etcd responds again');
      this.failure = undefined;
    } catch (error) {
      if (this.stopped) return;
      if (this.failure === undefined) this.logger.warn({ error }, 'etcd does not respond');
      this.failure = error instanceof Error ? error.message : String(error);
    }
    if (!this.stopped) this.start();
  }
}
