/**
 * Runs a process: dialect, options, logger, start, wait, ordered shutdown, exit code. SIGTERM and
 * SIGINT begin the ordered shutdown, a second signal exits immediately; an unhandled rejection or
 * exception is fatal. The `start` of the app composes the process.
 */
import 'reflect-metadata';
import { type ComponentDefinition, createRun, type HasCommonOptions } from './component-run.js';
import { bindProcess, keepProcess, orUsageExit } from './process-binding.js';

/** Runs the component and exits the process. */
export async function runComponent<Options extends HasCommonOptions>(
  definition: ComponentDefinition<Options>,
  argv: readonly string[] = process.argv.slice(2),
): Promise<void> {
  const { logger, lifecycle, start } = await orUsageExit(() => createRun(definition, argv));
  bindProcess({
    logger,
    isStopping: () => lifecycle.stopping.aborted,
    onSignal: (signal) => lifecycle.stop(signal),
    onError: (error) => lifecycle.fail(error),
  });
  keepProcess();
  await start();
  process.exit(await lifecycle.whenEnded());
}
