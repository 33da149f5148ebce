/** The entry of `up` and `down`: flags in, exit code out, one line on standard error for a mistake. */
import { HelpRequested, orchVersion, parseOptions, UsageError } from '@orch/component';
import { tellStarter } from './detach.js';
import { down } from './down.js';
import { up } from './up.js';
import { DownOptions, UpOptions } from './up-options.js';
import { UserError } from './user-error.js';

/** Commands that run a cluster on this machine instead of asking one. */
export type ClusterCommand = 'up' | 'down';

/** `argv` is what follows the command. */
export async function runClusterCommand(
  command: ClusterCommand,
  argv: readonly string[],
): Promise<number> {
  // A reader of our output that went away, such as `head`, is no reason to end a cluster.
  process.stdout.on('error', ignoreBrokenPipe);
  // Our timers do not keep a process alive; this one does until the command has ended.
  const alive = setInterval(() => undefined, 2 ** 30);
  try {
    return command === 'up' ? await up(upOptions(argv), argv) : await down(downOptions(argv));
  } catch (error) {
    if (error instanceof HelpRequested) {
      process.stdout.write(`${error.message}\n`);
      return error.exitCode;
    }
    const isMistake = error instanceof UserError || error instanceof UsageError;
    const message = error instanceof Error ? error.message : String(error);
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
    description: 'Starts a cluster on this machine and keeps it running.',
    version: orchVersion,
  });
}

function downOptions(argv: readonly string[]): DownOptions {
  return parseOptions(DownOptions, argv, {
    program: 'orchctl down',
    description: 'Stops the cluster that `orchctl up` started; its data stays.',
    version: orchVersion,
  });
}
