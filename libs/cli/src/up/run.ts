/**
 * The entry point of `up` and `down`: parses flags, prints one line for a user error, returns the
 * exit code.
 */
import {
  errorMessage,
  HelpRequested,
  orchVersion,
  parseOptions,
  UsageError,
} from '@orch/component';
import { UserError } from './cluster/user-error.js';
import { tellStarter } from './detach.js';
import { down } from './down.js';
import { up } from './up.js';
import { DownOptions, UpOptions } from './up-options.js';

/** Commands that run a cluster on this machine. */
export type ClusterCommand = 'up' | 'down';

/** Runs the command and returns its exit code. `argv` holds the words after the command. */
export async function runClusterCommand(
  command: ClusterCommand,
  argv: readonly string[],
): Promise<number> {
  // A reader that closes the pipe, such as `head`, must not stop the cluster.
  process.stdout.on('error', ignoreBrokenPipe);
  // The libraries' timers do not keep the process alive; this one does until the command has ended.
  const alive = setInterval(() => undefined, 2 ** 30);
  try {
    return command === 'up' ? await up(upOptions(argv), argv) : await down(downOptions(argv));
  } catch (error) {
    if (error instanceof HelpRequested) {
      process.stdout.write(`${error.message}\n`);
      return error.exitCode;
    }
    const isMistake = error instanceof UserError || error instanceof UsageError;
    const message = errorMessage(error);
    process.stderr.write(
      `${isMistake || !(error instanceof Error) ? message : (error.stack ?? message)}\n`,
    );
    await tellStarter({ kind: 'failed', text: message });
    return error instanceof UsageError ? error.exitCode : 1;
  } finally {
    clearInterval(alive);
  }
}

function ignoreBrokenPipe(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EPIPE') throw error;
}

function upOptions(argv: readonly string[]): UpOptions {
  return parseOptions(UpOptions, argv, {
    program: 'orchctl up',
    description: 'Starts a cluster on this machine and restarts its processes when they die.',
    version: orchVersion,
  });
}

function downOptions(argv: readonly string[]): DownOptions {
  return parseOptions(DownOptions, argv, {
    program: 'orchctl down',
    description: 'Stops the cluster that `orchctl up` started; its data is retained.',
    version: orchVersion,
  });
}
