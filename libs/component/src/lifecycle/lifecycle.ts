/**
 * The ordered shutdown of one process: shutdown steps are registered during the start and run in
 * reverse order, one at a time, within a common deadline. The first reason to stop determines the
 * exit code. `run-component.ts` binds the signals and the exit, so that this class can be tested.
 */
import type { Clock } from '../clock.js';
import { shutdownStepCountMax } from '../limits.js';
import type { Logger } from '../logging/logger.js';
import { withDeadline } from './deadline.js';
import { type ExitCode, exitCodes, FatalError } from './exit-codes.js';
import { isInvariantError } from './invariant.js';

interface ShutdownStep {
  readonly name: string;
  readonly run: () => Promise<void> | void;
}

export interface LifecycleOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  /**
   * Time for all shutdown steps together. Higher: a stuck process ends later. Lower: work is
   * aborted.
   */
  readonly shutdownTimeoutMs: number;
}

export class Lifecycle {
  private readonly steps: ShutdownStep[] = [];
  private readonly controller = new AbortController();
  private readonly ended: Promise<ExitCode>;
  private settleEnded: (code: ExitCode) => void = () => undefined;
  private isClean = false;

  constructor(private readonly options: LifecycleOptions) {
    this.ended = new Promise((resolve) => {
      this.settleEnded = resolve;
    });
  }

  /** Aborted when the shutdown begins. */
  get stopping(): AbortSignal {
    return this.controller.signal;
  }

  /** Whether all shutdown steps have succeeded: nothing of the run is left. */
  get endedCleanly(): boolean {
    return this.isClean;
  }

  /** Registers a shutdown step; steps run last in, first out. */
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

  /** Begins the shutdown. Later calls have no effect. */
  stop(reason: string, exitCode: ExitCode = exitCodes.ok): void {
    if (this.controller.signal.aborted) return;
    this.options.logger.info({ reason }, 'stopping');
    this.controller.abort(new Error(`stopping: ${reason}`));
    this.runSteps().then(
      (clean) => {
        this.isClean = clean;
        this.settleEnded(clean || exitCode !== exitCodes.ok ? exitCode : exitCodes.failed);
      },
      (error: unknown) => {
        this.options.logger.error({ err: error }, 'shutdown exceeded its deadline');
        this.settleEnded(exitCode === exitCodes.ok ? exitCodes.shutdownTimeout : exitCode);
      },
    );
  }

  /** Ends because of an error: one line, its own exit code, then the same ordered shutdown. */
  fail(error: unknown): void {
    if (this.controller.signal.aborted) {
      this.options.logger.warn({ err: error }, 'error while stopping');
      return;
    }
    const isKnown = error instanceof FatalError;
    const exitCode = exitCodeOf(error);
    const reason = isKnown ? error.message : 'unexpected error';
    const cause = isKnown ? error.cause : error;
    this.options.logger.fatal(
      { reason, exitCode, ...(cause !== undefined && { err: cause }) },
      'fatal error',
    );
    this.stop('fatal error', exitCode);
  }

  private async runSteps(): Promise<boolean> {
    const { clock, logger, shutdownTimeoutMs } = this.options;
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

function exitCodeOf(error: unknown): ExitCode {
  if (isInvariantError(error)) return exitCodes.invariantBroken;
  return error instanceof FatalError ? error.exitCode : exitCodes.unexpected;
}
