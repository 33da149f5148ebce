/**
 * The command line. `up` and `down` run a cluster on this machine; every other command is a client of an
 * API server. One line on standard error says what went wrong.
 */
import { HelpRequested, orchVersion, parseOptions, UsageError } from '@orch/component';
import { tellStarter } from './up/detach.js';
import { down } from './up/down.js';
import { up } from './up/up.js';
import { DownOptions, UpOptions } from './up/up-options.js';
import { UserError } from './up/user-error.js';

async function run(argv: readonly string[]): Promise<number> {
  const [command, ...rest] = argv;
  if (command === 'up') {
    const options = parseOptions(UpOptions, rest, {
      program: 'orchctl up',
      description: 'Starts a cluster on this machine and keeps it running.',
      version: orchVersion,
    });
    return up(options, rest);
  }
  if (command === 'down') {
    const options = parseOptions(DownOptions, rest, {
      program: 'orchctl down',
      description: 'Stops the cluster that `orchctl up` started; its data stays.',
      version: orchVersion,
    });
    return down(options);
  }
  throw new UsageError(`orchctl: there is no command ${JSON.stringify(command ?? '')}`);
}

try {
  process.exitCode = await run(process.argv.slice(2));
  process.exit();
} catch (error) {
  if (error instanceof HelpRequested) {
    process.stdout.write(`${error.message}\n`);
    process.exit(error.exitCode);
  }
  const known = error instanceof UserError || error instanceof UsageError;
  if (known) process.stderr.write(`${error.message}\n`);
  else process.stderr.write(`${error instanceof Error ? error.stack : String(error)}\n`);
  await tellStarter({
    kind: 'failed',
    text: error instanceof Error ? error.message : String(error),
  });
  process.exit(error instanceof UsageError ? error.exitCode : 1);
}
