/**
 * Runs a process: dialect, options, logger, start, wait, ordered shutdown, exit code. SIGTERM and
 * SIGINT begin the ordered shutdown, a second signal exits immediately; an unhandled rejection or
 * exception is fatal. The `start` of the app composes the process.
 */
import 'reflect-metadata';
import { systemClock } from '../clock.js';
import { FeatureGates } from '../features/feature-gates.js';
import type { GatedComponent } from '../features/gate-effects.js';
import { createLogger } from '../logging/create-logger.js';
import type { Logger } from '../logging/logger.js';
import type { CommonOptions } from '../options/common-options.js';
import type { OptionsClass } from '../options/flag.js';
import { HelpRequested, parseOptions, UsageError } from '../options/parse-options.js';
import { ValueError } from '../options/values.js';
import { orchVersion } from '../version.js';
import { exitCodes, FatalError } from './exit-codes.js';
import { keepTickObject } from './keep-tick-object.js';
import { Lifecycle } from './lifecycle.js';

/** An options class that contains the common options as `common`. */
export interface HasCommonOptions {
  readonly common: CommonOptions;
}

export interface ComponentContext<Options> {
  readonly options: Options;
  /** The gates as set by `--feature-gates`. */
  readonly features: FeatureGates;
  readonly logger: Logger;
  readonly lifecycle: Lifecycle;
}

export interface ComponentDefinition<Options extends HasCommonOptions> {
  /** The name of the program and of the component in log lines: `orch-scheduler`. */
  readonly program: string;
  readonly description: string;
  readonly optionsClass: OptionsClass<Options>;
  /** Selects the feature gates that have an effect. */
  readonly component: GatedComponent;
  /** Starts the component and returns; registers shutdown steps with `lifecycle.onStop`. */
  start(context: ComponentContext<Options>): Promise<void>;
}

/** Runs the component and exits the process. */
export async function runComponent<Options extends HasCommonOptions>(
  definition: ComponentDefinition<Options>,
  argv: readonly string[] = process.argv.slice(2),
): Promise<void> {
  const options = optionsOrExit(definition, argv);
  const { common } = options;
  const logger = createLogger({
    component: definition.program,
    format: common.loggingFormat,
    level: common.logLevel,
  });
  const lifecycle = new Lifecycle({
    clock: systemClock,
    logger,
    shutdownTimeoutMs: common.shutdownTimeoutMs,
  });
  bindProcess(lifecycle, logger);
  keepProcessAlive();
  void keepTickObject();
  const startedMs = systemClock.monotonicMs();
  try {
    const features = featureGates(definition, options, logger);
    await definition.start({ options, features, logger, lifecycle });
    const startMs = Math.round(systemClock.monotonicMs() - startedMs);
    if (!lifecycle.stopping.aborted) {
      logger.info({ version: orchVersion, pid: process.pid, startMs }, 'started');
    }
  } catch (error) {
    lifecycle.fail(startFailure(error));
  }
  process.exit(await lifecycle.whenEnded());
}

function optionsOrExit<Options extends HasCommonOptions>(
  definition: ComponentDefinition<Options>,
  argv: readonly string[],
): Options {
  try {
    return parseOptions(definition.optionsClass, argv, {
      program: definition.program,
      description: definition.description,
      version: orchVersion,
    });
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

function featureGates<Options extends HasCommonOptions>(
  definition: ComponentDefinition<Options>,
  options: Options,
  logger: Logger,
): FeatureGates {
  const features = new FeatureGates(definition.component);
  features.set(options.common.featureGates);
  for (const warning of features.warnings) logger.warn({ warning }, 'feature gates');
  return features;
}

function bindProcess(lifecycle: Lifecycle, logger: Logger): void {
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.on(signal, () => {
      if (lifecycle.stopping.aborted) {
        logger.warn({ signal }, 'second signal, exiting immediately');
        process.exit(exitCodes.shutdownTimeout);
      }
      lifecycle.stop(signal);
    });
  }
  process.on('SIGHUP', () => logger.debug({}, 'SIGHUP ignored'));
  process.on('unhandledRejection', (reason) => lifecycle.fail(reason));
  process.on('uncaughtException', (error) => lifecycle.fail(error));
}

/** Maps configuration errors that appear only during composition to the usage exit code. */
function startFailure(error: unknown): FatalError {
  if (error instanceof FatalError) return error;
  if (error instanceof UsageError || error instanceof ValueError) {
    return new FatalError(exitCodes.usage, error.message);
  }
  return new FatalError(exitCodes.failed, 'start failed', { cause: error });
}

/**
 * Keeps the event loop running until the lifecycle ends: the timers of a clock are unreferenced.
 */
function keepProcessAlive(): void {
  setInterval(() => undefined, 2 ** 30);
}
