/** `orchctl config view`: the kubeconfig that is used, without its secrets. */
import { type Kubeconfig, readKubeconfig } from '@orch/component';
import type { Configure } from '../lib/context.js';
import { CliError, UsageError } from '../lib/errors.js';
import { yamlText } from '../lib/output.js';
import { kubeconfigPath } from '../lib/session.js';

interface ViewOptions {
  readonly raw?: boolean;
  readonly minify?: boolean;
  readonly output: string;
}

export const configureConfig: Configure = (command, context) => {
  const read = () => {
    const path = kubeconfigPath(context.globals);
    if (!path) throw new CliError('there is no kubeconfig; name one with --kubeconfig');
    return readKubeconfig(path);
  };
  command
    .command('view')
    .description('show the kubeconfig, secrets left out')
    .option('--raw', 'secrets too: do not show them to anybody')
    .option('--minify', 'only what the current context uses')
    .option('-o, --output <format>', 'yaml or json', 'yaml')
    .action(async (options: ViewOptions) => {
      let config = read();
      if (options.minify) config = minified(config, context.globals.context);
      if (!options.raw) config = withoutSecrets(config);
      if (options.output === 'json') context.io.out(`${JSON.stringify(config, null, 4)}\n`);
      else if (options.output === 'yaml') context.io.out(yamlText(config));
      else throw new UsageError(`-o: want yaml or json, got ${options.output}`);
    });
  command
    .command('current-context')
    .description('print the name of the context in use')
    .action(() => context.io.out(`${context.globals.context ?? read()['current-context']}\n`));
  command
    .command('get-contexts')
    .description('print the names of all contexts')
    .action(() =>
      context.io.out(
        read()
          .contexts.map(({ name }) => `${name}\n`)
          .join(''),
      ),
    );
};

const secretFields = ['token', 'password', 'client-key-data'] as const;
const longFields = ['certificate-authority-data', 'client-certificate-data'] as const;

function withoutSecrets(config: Kubeconfig): Kubeconfig {
  const hide = <T extends object>(part: T): T => {
    const entries = Object.entries(part).map(([key, value]) => {
      if (secretFields.some((field) => field === key)) return [key, 'REDACTED'];
      return [key, longFields.some((field) => field === key) ? 'DATA+OMITTED' : value];
    });
    return Object.fromEntries(entries);
  };
  return {
    ...config,
    clusters: config.clusters.map((entry) => ({ ...entry, cluster: hide(entry.cluster) })),
    users: config.users.map((entry) => ({ ...entry, user: hide(entry.user) })),
  };
}

function minified(config: Kubeconfig, contextName = config['current-context']): Kubeconfig {
  const contexts = config.contexts.filter(({ name }) => name === contextName);
  const used = contexts[0]?.context;
  return {
    ...config,
    contexts,
    clusters: config.clusters.filter(({ name }) => name === used?.cluster),
    users: config.users.filter(({ name }) => name === used?.user),
    'current-context': contextName,
  };
}
