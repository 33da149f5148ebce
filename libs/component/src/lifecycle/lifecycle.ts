/**
 * The ordered life of one process: steps to undo are registered while it starts and run backwards, one
 * by one and within one deadline, when it ends. The first reason to end wins; a second signal ends at
 * once. Signals and the exit itself are bound in `run-component.ts`, so that this can be tested.
 */
import type { Clock } from '../clock.js';
import { shutdownStepCountMax } from '../limits.js';
import type { Logger } from '../logging/logger.js';
import { withDeadline } from './deadline.js';
import { type ExitCode, exitCodes, FatalError } from './exit-codes.js';

interface ShutdownStep {
  readonly name: string;
  readonly run: () => Promise<void> | void;
}

export interface LifecycleSettings {
  readonly clock: Clock;
  readonly logger: Logger;
  /** Time for all shutdown steps together. Lower: work is cut off. Higher: a stuck process lingers. */
  readonly shutdownTimeoutMs: number;
}

export class Lifecycle {
  private readonly steps: ShutdownStep[] = [];
  private readonly controller = new AbortController();
  private readonly ended: Promise<ExitCode>;
  private settleEnded: (code: ExitCode) => void = () => undefined;

  constructor(private readonly settings: LifecycleSettings) {
    this.ended = new Promise((resolve) => {
      this.settleEnded = resolve;
    });
  }

  /** Aborted when the process begins to end. */
  get stopping(): AbortSignal {
    return this.controller.signal;
  }

  /** Registers what has to be undone; steps run last in, first out. */
  onStop(name: string, run: () => Promise<void> | void): void {
    if (this.steps.length >= shutdownStepCountMax) {
      throw new Error(`more than ${shutdownStepCountMax} shutdown steps`);
    }
    this.steps.push({ name, run });
  }

  /** Resolves with the exit code when shutdown is over. */
  whenEnded(): Promise<ExitCode> {
    return this.ended;
  }

  /** Begins the shutdown. Later calls do nothing. */
  stop(reason: string, exitCode: ExitCode = exitCodes.ok): void {
    if (this.controller.signal.aborted) return;
    this.settings.logger.info({ reason }, 'stopping');
    this.controller.abort(new Error(`stopping: ${reason}`));
    this.runSteps().then(
      (clean) => this.settleEnded(clean || exitCode !== exitCodes.ok ? exitCode : exitCodes.failed),
      (error: unknown) => {
        this.settings.logger.error({ err: error }, 'shutdown did not end in time');
        this.settleEnded(exitCode === exitCodes.ok ? exitCodes.shutdownTimeout : exitCode);
      },
    );
  }

  /** Ends because of an error: one line, its own exit code, then the same ordered shutdown. */
  fail(error: unknown): void {
    if (this.controller.signal.aborted) {
      this.settings.logger.warn({ err: error }, 'error while stopping');
      return;
    }
    const isKnown = error instanceof FatalError;
    const exitCode = isKnown ? error.exitCode : exitCodes.unexpected;
    const reason = isKnown ? error.message : 'unexpected error';
    const cause = isKnown ? error.cause : error;
    this.settings.logger.fatal(
      { reason, exitCode, ...(cause !== undefined && { err: cause }) },
      'fatal error',
    );
    this.stop('fatal error', exitCode);
  }

  private async runSteps(): Promise<boolean> {
    const { clock, logger, shutdownTimeoutMs } = this.settings;
    const deadlineMs = clock.monotonicMs() + shutdownTimeoutMs;
    let clean = true;
    for (let step = this.steps.pop(); step; step = this.steps.pop()) {
      const { name, run } = step;
      const leftMs = Math.max(0, deadlineMs - clock.monotonicMs());
      const work = Promise.resolve().then(run);
      await withDeadline(
        work.catch((error: unknown) => {
          clean = false;
          logger.error({ err: error, step: name }, 'shutdown step failed');
        }),
        leftMs,
        `shutdown step ${name}`,
        clock,
      );
    }
    return clean;
  }
}
