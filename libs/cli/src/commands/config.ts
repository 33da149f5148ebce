/** `orchctl config`: shows and changes the kubeconfig. Secrets are shown only with `--raw`. */
import type { Kubeconfig } from '@orch/component';
import type { Command } from 'commander';
import { CliError, UsageError } from '../command-line/errors.js';
import { withContext } from '../kubeconfig/entries.js';
import { changeKubeconfig, existingKubeconfig } from '../kubeconfig/file.js';
import { minified, withoutSecrets } from '../kubeconfig/redact.js';
import { objectText, outputFormat } from '../output/object-text.js';
import { TableWriter } from '../output/table.js';
import type { CommandContext, Configure } from '../session/command-context.js';
import { addEntryCommands } from './config-entries.js';

const viewFormats = 'yaml, json or jsonpath=TEMPLATE';

interface ViewOptions {
  readonly raw?: boolean;
  readonly minify?: boolean;
  readonly output: string;
}

interface ContextsOptions {
  readonly output?: string;
  readonly headers: boolean;
}

interface SetContextOptions {
  readonly current?: boolean;
  readonly cluster?: string;
  readonly user?: string;
}

export const configureConfig: Configure = (command, context) => {
  addView(command, context);
  addContexts(command, context);
  addEntryCommands(command, context);
};

function addView(command: Command, context: CommandContext): void {
  command
    .command('view')
    .description('show the kubeconfig without secrets')
    .option('--raw', 'include secrets')
    .option('--minify', 'only the entries of the current context')
    .option('-o, --output <format>', viewFormats, 'yaml')
    .action((options: ViewOptions) => {
      let { config } = existingKubeconfig(context.globals);
      if (options.minify) config = minified(config, context.globals.context);
      if (!options.raw) config = withoutSecrets(config);
      context.io.out(viewText(config, options.output));
    });
}

function viewText(config: Kubeconfig, output: string): string {
  const format = outputFormat(output);
  if (format.kind === 'table' || format.kind === 'name') {
    throw new UsageError(`-o: want ${viewFormats}, got ${output}`);
  }
  return objectText({ ...config }, format, '');
}

function addContexts(command: Command, context: CommandContext): void {
  command
    .command('current-context')
    .description('print the name of the context in use')
    .action(() => {
      const current = context.globals.context ?? currentContext(context);
      if (current === '') throw new CliError('current-context is not set');
      context.io.out(`${current}\n`);
    });
  command
    .command('get-contexts')
    .description('list the contexts')
    .argument('[names...]', 'only these contexts')
    .option('-o, --output <format>', 'name')
    .option('--no-headers', 'omit the header line')
    .action((names: string[], options: ContextsOptions) => {
      context.io.out(contextList(names, options, context));
    });
  command
    .command('use-context')
    .alias('use')
    .description('set the current context')
    .argument('<name>', 'name of the context')
    .action((name: string) => {
      changeKubeconfig(context.globals, (config) => {
        if (!config.contexts.some((entry) => entry.name === name)) {
          throw new CliError(`no context exists with the name: "${name}"`);
        }
        return { ...config, 'current-context': name };
      });
      context.io.out(`Switched to context "${name}".\n`);
    });
  command
    .command('set-context')
    .description('create or change a context; -n sets its namespace')
    .argument('[name]', 'name of the context')
    .option('--current', 'change the current context')
    .option('--cluster <name>', 'cluster of the context')
    .option('--user <name>', 'user of the context')
    .action((given: string | undefined, options: SetContextOptions) => {
      setContext(given, options, context);
    });
}

function currentContext({ globals }: CommandContext): string {
  return existingKubeconfig(globals).config['current-context'];
}

function contextList(
  names: readonly string[],
  { output, headers }: ContextsOptions,
  { globals }: CommandContext,
): string {
  if (output !== undefined && output !== 'name')
    throw new UsageError(`-o: want name, got ${output}`);
  const { config } = existingKubeconfig(globals);
  const missing = names.find((name) => !config.contexts.some((entry) => entry.name === name));
  if (missing !== undefined) throw new CliError(`context ${missing} not found`);
  const shown = config.contexts
    .filter(({ name }) => names.length === 0 || names.includes(name))
    .sort((left, right) => (left.name < right.name ? -1 : 1));
  if (output === 'name') return shown.map(({ name }) => `${name}\n`).join('');
  const current = globals.context ?? config['current-context'];
  const rows = shown.map(({ name, context: { cluster, user, namespace = '' } }) => [
    name === current ? '*' : '',
    ...[name, cluster, user, namespace],
  ]);
  const header = ['CURRENT', 'NAME', 'CLUSTER', 'AUTHINFO', 'NAMESPACE'];
  return new TableWriter().format([...(headers ? [header] : []), ...rows]);
}

function setContext(
  given: string | undefined,
  { current, cluster, user }: SetContextOptions,
  { globals, io }: CommandContext,
): void {
  if ((given !== undefined) === (current ?? false)) {
    throw new UsageError('give either the name of a context or --current');
  }
  let line = '';
  changeKubeconfig(globals, (config) => {
    const name = given ?? config['current-context'];
    if (name === '') throw new CliError('no current context is set');
    const isNew = !config.contexts.some((entry) => entry.name === name);
    line = `Context "${name}" ${isNew ? 'created' : 'modified'}.\n`;
    return withContext(config, name, {
      ...(cluster !== undefined && { cluster }),
      ...(user !== undefined && { user }),
      ...(globals.namespace !== undefined && { namespace: globals.namespace || undefined }),
    });
  });
  io.out(line);
}
