/** One run of a component: its options, logger and lifecycle, from its command line. */
import { systemClock } from '../clock.js';
import { FeatureGates } from '../features/feature-gates.js';
import type { GatedComponent } from '../features/gate-effects.js';
import { createLogger } from '../logging/create-logger.js';
import type { Logger } from '../logging/logger.js';
import type { CommonOptions } from '../options/common-options.js';
import type { OptionsClass } from '../options/flag.js';
import { parseOptions, UsageError } from '../options/parse-options.js';
import { ValueError } from '../options/values.js';
import { orchVersion } from '../version.js';
import { exitCodes, FatalError } from './exit-codes.js';
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

export interface ComponentRun {
  readonly common: CommonOptions;
  readonly logger: Logger;
  readonly lifecycle: Lifecycle;
  /** Starts the component. A failure ends the lifecycle; returns whether it has started. */
  start(): Promise<boolean>;
}

/**
 * Prepares a run. Throws `UsageError` or `HelpRequested`. `name`: of the component in log lines.
 */
export function createRun<Options extends HasCommonOptions>(
  definition: ComponentDefinition<Options>,
  argv: readonly string[],
  name = definition.program,
): ComponentRun {
  const options = parseOptions(definition.optionsClass, argv, {
    program: definition.program,
    description: definition.description,
    version: orchVersion,
  });
  const { common } = options;
  const logger = createLogger({
    component: name,
    format: common.loggingFormat,
    level: common.logLevel,
  });
  const lifecycle = new Lifecycle({
    clock: systemClock,
    logger,
    shutdownTimeoutMs: common.shutdownTimeoutMs,
  });
  const start = () => startComponent(definition, { options, logger, lifecycle });
  return { common, logger, lifecycle, start };
}

async function startComponent<Options extends HasCommonOptions>(
  definition: ComponentDefinition<Options>,
  { options, logger, lifecycle }: Omit<ComponentContext<Options>, 'features'>,
): Promise<boolean> {
  const startedMs = systemClock.monotonicMs();
  try {
    const features = featureGates(definition, options, logger);
    await definition.start({ options, features, logger, lifecycle });
  } catch (error) {
    lifecycle.fail(startFailure(error));
    return false;
  }
  const startMs = Math.round(systemClock.monotonicMs() - startedMs);
  if (lifecycle.stopping.aborted) return false;
  logger.info({ version: orchVersion, pid: process.pid, startMs }, 'started');
  return true;
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

/** Maps configuration errors that appear only during composition to the usage exit code. */
function startFailure(error: unknown): FatalError {
  if (error instanceof FatalError) return error;
  if (error instanceof UsageError || error instanceof ValueError) {
    return new FatalError(exitCodes.usage, error.message);
  }
  return new FatalError(exitCodes.failed, 'start failed', { cause: error });
}
