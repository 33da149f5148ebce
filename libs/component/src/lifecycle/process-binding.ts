/** What binds a process to the system, whether it runs one component or several. */
import type { Awaitable } from '../awaitable.js';
import type { Logger } from '../logging/logger.js';
import { HelpRequested, UsageError } from '../options/parse-options.js';
import { exitCodes } from './exit-codes.js';
import { keepTickObject } from './keep-tick-object.js';

/** Returns the result; prints help or the mistake of a command line and exits the process. */
export async function orUsageExit<Result>(parse: () => Awaitable<Result>): Promise<Result> {
  try {
    return await parse();
  } catch (error) {
    if (error instanceof HelpRequested) {
      process.stdout.write(`${error.message}\n`);
      process.exit(error.exitCode);
    }
    if (error instanceof UsageError) {
      process.stderr.write(`${error.message}\n`);
      process.exit(error.exitCode);
    }
    throw error;
  }
}

export interface ProcessEvents {
  readonly logger: Logger;
  /** Whether the shutdown has begun: then a signal exits immediately. */
  readonly isStopping: () => boolean;
  readonly onSignal: (signal: NodeJS.Signals) => void;
  readonly onError: (error: unknown) => void;
}

export function bindProcess({ logger, isStopping, onSignal, onError }: ProcessEvents): void {
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.on(signal, () => {
      if (isStopping()) {
        logger.warn({ signal }, 'second signal, exiting immediately');
        process.exit(exitCodes.shutdownTimeout);
      }
      onSignal(signal);
    });
  }
  process.on('SIGHUP', () => logger.debug({}, 'SIGHUP ignored'));
  process.on('unhandledRejection', onError);
  process.on('uncaughtException', onError);
}

/** Keeps the event loop running until the process exits: the timers of a clock are unreferenced. */
export function keepProcess(): void {
  setInterval(() => undefined, 2 ** 30);
  void keepTickObject();
}
