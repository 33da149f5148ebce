/**
 * One run of the command line. Only the file of the command that was asked for is loaded, and nothing of the
 * framework: starting up is most of the time of a short command.
 */
import { orchVersion } from '@orch/component';
import { Command } from 'commander';
import { commands } from './commands/index.js';
import { errorLine, exitCodeOf } from './lib/errors.js';
import type { GlobalOptions } from './lib/global-options.js';
import type { Io } from './lib/io.js';
import type { Session } from './lib/session.js';

const globalFlags: readonly [flags: string, description: string][] = [
  [
    '--kubeconfig <file>',
    'where the cluster is and who you are; else $KUBECONFIG, .orch/kubeconfig, ~/.orch/config',
  ],
  ['--context <name>', 'context of the kubeconfig to use'],
  ['-n, --namespace <name>', 'namespace to work in'],
  ['-s, --server <url>', 'address of the API server to use, over all those of the kubeconfig'],
  ['--token <token>', 'bearer token, over the credentials of the kubeconfig'],
  ['--certificate-authority <file>', 'authority to trust, over that of the kubeconfig'],
  [
    '--insecure-skip-tls-verify',
    'accept any certificate: anybody on the way could read and change everything',
  ],
  ['--request-timeout <duration>', 'longest wait for one answer, such as 30s'],
];

const exitCodesHelp = `
Exit codes: 0 done, 1 failed, 2 wrong command line, 124 a wait ran into its timeout.
`;

/** Run by `main.ts` itself, with flags of their own; here for the help. */
const clusterCommands: readonly [name: string, description: string][] = [
  ['up', 'start a cluster on this machine and keep it running'],
  ['down', 'stop the cluster that `up` started; its data stays'],
];

/** Runs one command line and gives its exit code. */
export async function run(argv: readonly string[], io: Io): Promise<number> {
  const program = new Command('orchctl')
    .description('Controls an Orch cluster.')
    .version(orchVersion, '--version', 'print the version of this program and end')
    .helpOption('-h, --help', 'print help and end')
    .addHelpText('after', exitCodesHelp)
    .exitOverride()
    .configureOutput({ writeOut: (text) => io.out(text), writeErr: (text) => io.err(text) });
  for (const [flags, description] of globalFlags) program.option(flags, description);
  let opened: Promise<Session> | undefined;
  const context = {
    io,
    get globals() {
      return program.opts<GlobalOptions>();
    },
    session: () => {
      opened ??= import('./lib/session.js').then(({ openSession }) => openSession(program.opts()));
      return opened;
    },
  };
  const wanted = commandName(argv, program);
  try {
    for (const { name, description, aliases = [], load } of commands) {
      const command = program
        .command(name)
        .description(description)
        .aliases([...aliases]);
      command.copyInheritedSettings(program);
      if (wanted === name || aliases.includes(wanted)) (await load())(command, context);
    }
    for (const [name, description] of clusterCommands)
      program.command(name).description(description);
    await program.parseAsync([...argv], { from: 'user' });
    return 0;
  } catch (error) {
    io.err(errorLine(error));
    return exitCodeOf(error);
  } finally {
    await (await opened?.catch(() => undefined))?.client.close();
  }
}

/** The first word that is neither a flag nor the value of a global flag. */
function commandName(argv: readonly string[], program: Command): string {
  for (let index = 0; index < argv.length; index++) {
    const word = argv[index]!;
    if (word === 'help') continue;
    if (!word.startsWith('-')) return word;
    const option = program.options.find((one) => one.short === word || one.long === word);
    if (option?.required) index++;
  }
  return '';
}
