/**
 * A component that starts again in its process after it has ended for an expected reason, with the
 * back-off of a supervisor.
 */
import type { Clock } from '../clock.js';
import { restartHealthyMs, restartPauseMaxMs, restartPauseMinMs } from '../limits.js';
import type { ComponentRun } from './component-run.js';
import { sleep } from './deadline.js';
import { type ExitCode, exitCodes } from './exit-codes.js';
import { Backoff } from './retry.js';

/** A component of the process. */
export interface ComponentPart {
  /** Its name in log lines, without the prefix of programs: `scheduler`, `node-agent-2`. */
  readonly name: string;
  /** Prepares a run from its command line. Throws `UsageError` or `HelpRequested`. */
  create(): ComponentRun;
}

export class KeptComponent {
  private current: ComponentRun;
  private readonly stopping = new AbortController();
  private readonly backoff: Backoff;

  constructor(
    private readonly part: ComponentPart,
    private readonly clock: Clock,
    random: () => number,
  ) {
    this.current = part.create();
    const [initialMs, maxMs] = [restartPauseMinMs, restartPauseMaxMs];
    this.backoff = new Backoff({ initialMs, maxMs, factor: 2, jitter: 0.1, random });
  }

  get common() {
    return this.current.common;
  }

  /** Resolves with the exit code of the last run. */
  async run(): Promise<ExitCode> {
    let hasStarted = false;
    for (;;) {
      const { lifecycle, logger, start } = this.current;
      const startedMs = this.clock.monotonicMs();
      hasStarted = (await start()) || hasStarted;
      const exitCode = await lifecycle.whenEnded();
      const isExpected = exitCode === exitCodes.leadershipLost || exitCode === exitCodes.failed;
      const { aborted } = this.stopping.signal;
      if (aborted || !hasStarted || !isExpected || !lifecycle.endedCleanly) return exitCode;
      if (this.clock.monotonicMs() - startedMs > restartHealthyMs) this.backoff.reset();
      const pauseMs = Math.round(this.backoff.nextMs());
      logger.warn({ exitCode, pauseMs }, 'starting again');
      if (!(await this.pause(pauseMs))) return exitCode;
      this.current = this.part.create();
    }
  }

  /** Stops the current run; resolves with its exit code. */
  stop(reason: string): Promise<ExitCode> {
    this.stopping.abort();
    const { lifecycle } = this.current;
    // It waits for its next start.
    if (lifecycle.endedCleanly) return Promise.resolve(exitCodes.ok);
    lifecycle.stop(reason);
    return lifecycle.whenEnded();
  }

  /** Returns false if the component is stopped meanwhile. */
  private pause(pauseMs: number): Promise<boolean> {
    return sleep(pauseMs, this.stopping.signal, this.clock).then(
      () => true,
      () => false,
    );
  }
}
