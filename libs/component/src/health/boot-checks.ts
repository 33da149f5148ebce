/**
 * The checks of a start sequence. They fail on `/healthz` and `/readyz` until the step is complete.
 * A liveness probe must not restart a process that is only slow to start, so on `/livez` they pass
 * during a grace period, and while the process waits for something that a restart does not bring.
 */
import type { Clock } from '../clock.js';
import type { HealthCheck, HealthChecks } from './health-checks.js';

export interface BootChecksOptions {
  /** From the creation of the checks on. */
  readonly graceMs: number;
  /** Whether the steps wait for something that a restart does not bring. */
  readonly isBlocked: () => boolean;
  readonly clock: Pick<Clock, 'monotonicMs'>;
}

export class BootChecks {
  private readonly startMs: number;

  constructor(
    private readonly health: HealthChecks,
    private readonly options: BootChecksOptions,
  ) {
    this.startMs = options.clock.monotonicMs();
  }

  /** Adds the check of a step; `missing` returns the reason why it is not complete. */
  add(name: string, missing: () => string | undefined): void {
    const check: HealthCheck = {
      name,
      run() {
        const reason = missing();
        if (reason !== undefined) throw new Error(reason);
      },
    };
    this.health.add(check, ['healthz', 'readyz']);
    this.health.add({ name, run: () => (this.isExcused() ? undefined : check.run()) }, ['livez']);
  }

  private isExcused(): boolean {
    const { clock, graceMs, isBlocked } = this.options;
    return clock.monotonicMs() - this.startMs < graceMs || isBlocked();
  }
}
