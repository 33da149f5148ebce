/**
 * Runs several components in one process, each with its own options, logger, servers and ordered
 * shutdown. A component that ends for an expected reason after it has started, such as a lost
 * leadership, starts again in the process, like a process that its supervisor restarts. Any other
 * end of one component ends the process without the shutdown of the others, as SIGKILL does: state
 * that is wrong must not spread, and an error outside of a request belongs to no component.
 */
import 'reflect-metadata';
import { systemClock } from '../clock.js';
import { createLogger } from '../logging/create-logger.js';
import type { Logger } from '../logging/logger.js';
import { ComponentGroup } from './component-group.js';
import { type ComponentDefinition, createRun, type HasCommonOptions } from './component-run.js';
import { type ExitCode, exitCodes, FatalError } from './exit-codes.js';
import { isInvariantError } from './invariant.js';
import { type ComponentPart, KeptComponent } from './kept-component.js';
import { bindProcess, keepProcess, orUsageExit } from './process-binding.js';

export function componentPart<Options extends HasCommonOptions>(
  name: string,
  definition: ComponentDefinition<Options>,
  argv: readonly string[],
): ComponentPart {
  return { name, create: () => createRun(definition, argv, `orch-${name}`) };
}

/** Runs the components that `partsOf` returns for the command line, and exits the process. */
export async function runComponents(
  program: string,
  partsOf: (argv: readonly string[]) => Promise<readonly ComponentPart[]>,
): Promise<void> {
  const prepared = await orUsageExit(async () => {
    const parts = await partsOf(process.argv.slice(2));
    return parts.map((part) => new KeptComponent(part, systemClock, Math.random));
  });
  const group = new ComponentGroup(prepared);
  const logger = createLogger({ component: program, ...group.logging });
  bindProcess({
    logger,
    isStopping: () => group.isStopping,
    onSignal: (signal) => group.stop(signal),
    onError: (error) => {
      if (group.isStopping) logger.warn({ err: error }, 'error while stopping');
      else process.exit(reportError(error, logger));
    },
  });
  keepProcess();
  process.exit(await group.whenEnded());
}

function reportError(error: unknown, logger: Logger): ExitCode {
  if (error instanceof FatalError) {
    const { exitCode, message, cause } = error;
    logger.fatal({ reason: message, exitCode, err: cause }, 'fatal error');
    return exitCode;
  }
  const exitCode = isInvariantError(error) ? exitCodes.invariantBroken : exitCodes.unexpected;
  logger.fatal({ reason: 'unexpected error', exitCode, err: error }, 'fatal error');
  return exitCode;
}
