/** Tells whether etcd can be reached, and whether its changes still arrive when nobody reads. */
import type { Clock, Logger, Timer } from '@orch/component';
import { PROBE_INTERVAL_MS } from './limits.js';

export class Probe {
  /** Why the last one failed. */
  failure: string | undefined;
  #timer: Timer | undefined;
  #stopped = false;

  constructor(
    private readonly clock: Clock,
    private readonly logger: Logger,
    private readonly check: () => Promise<void>,
  ) {}

  start(): void {
    this.#timer = this.clock.setTimer(PROBE_INTERVAL_MS, () => void this.#run());
  }

  stop(): void {
    this.#stopped = true;
    this.#timer?.cancel();
  }

  async #run(): Promise<void> {
    try {
      await this.check();
      if (this.failure !== undefined) this.logger.info({}, 'etcd answers again');
      this.failure = undefined;
    } catch (error) {
      if (this.#stopped) return;
      if (this.failure === undefined) this.logger.warn({ error }, 'etcd does not answer');
      this.failure = error instanceof Error ? error.message : String(error);
    }
    if (!this.#stopped) this.start();
  }
}
