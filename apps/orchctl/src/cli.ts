/**
 * One run of the command line. Loads only the file of the given command and nothing of Nest,
 * because start-up is most of the time of a short command.
 */
import {
  CommandRun,
  commands,
  FlagCommand,
  type GlobalOptions,
  type Io,
  processIo,
  repeated,
} from '@orch/cli';
import { orchVersion } from '@orch/component';
import type { Command } from 'commander';

const globalFlags: readonly [flags: string, description: string][] = [
  [
    '--kubeconfig <file>',
    'kubeconfig to use; default: $KUBECONFIG, .orch/kubeconfig, ~/.orch/config',
  ],
  ['--context <name>', 'context of the kubeconfig to use'],
  ['-n, --namespace <name>', 'namespace of the request'],
  ['-s, --server <url>', 'URL of the API server; overrides the servers of the kubeconfig'],
  ['--token <token>', 'bearer token; overrides the credentials of the kubeconfig'],
  ['--certificate-authority <file>', 'CA certificate to trust; overrides that of the kubeconfig'],
  [
    '--insecure-skip-tls-verify',
    'accept any server certificate; an attacker on the network can then read and change all traffic',
  ],
  ['--request-timeout <duration>', 'timeout of one request, such as 30s'],
  ['--as <user>', 'user to impersonate, such as ann or system:serviceaccount:NAMESPACE:NAME'],
];

const exitCodesHelp = `
Exit codes: 0 done, 1 failed, 2 wrong command line, 124 a wait timed out.
`;

/** Listed for the help only: `main.ts` runs them itself, with their own flags. */
const clusterCommands: readonly [name: string, description: string][] = [
  ['up', 'start a cluster on this machine and restart its processes when they die'],
  ['down', 'stop the cluster that `up` started; its data is retained'],
];

/** Runs one command line on the streams of this process and returns its exit code. */
export function runProcess(argv: readonly string[]): Promise<number> {
  return run(argv, processIo());
}

/** Runs one command line and returns its exit code. */
export async function run(argv: readonly string[], io: Io): Promise<number> {
  const program = new FlagCommand('orchctl')
    .description('Controls an Orch cluster.')
    .version(orchVersion, '--version', 'print the version of this program and exit')
    .helpOption('-h, --help', 'print help and exit')
    .addHelpText('after', exitCodesHelp)
    .exitOverride()
    .configureOutput({ writeOut: (text) => io.out(text), writeErr: (text) => io.err(text) });
  for (const [flags, description] of globalFlags) program.option(flags, description);
  program.option('--as-group <group>', 'group to impersonate; may be repeated', repeated);
  const context = new CommandRun(io, () => program.opts<GlobalOptions>());
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
    return await context.report(error);
  } finally {
    await context.close();
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
