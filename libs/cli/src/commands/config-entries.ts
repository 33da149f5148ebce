/**
 * The part of `orchctl config` that lists, sets, renames and deletes clusters, users and
 * contexts.
 */
import type { Command } from 'commander';
import { CliError, UsageError } from '../command-line/errors.js';
import {
  credentialChanges,
  type EntryKind,
  entryNames,
  withCluster,
  withContextName,
  withoutEntry,
  withUser,
} from '../kubeconfig/entries.js';
import { changeKubeconfig, existingKubeconfig, pemFields } from '../kubeconfig/file.js';
import { withProperty } from '../kubeconfig/set.js';
import { withoutProperty } from '../kubeconfig/unset.js';
import type { CommandContext } from '../session/command-context.js';

interface CredentialsOptions {
  readonly clientCertificate?: string;
  readonly clientKey?: string;
  readonly embedCerts?: boolean;
  readonly username?: string;
  readonly password?: string;
}

interface ClusterOptions {
  readonly embedCerts?: boolean;
  readonly tlsServerName?: string;
}

interface SetOptions {
  readonly setRawBytes?: boolean;
}

export function addEntryCommands(command: Command, context: CommandContext): void {
  addCredentials(command, context);
  addCluster(command, context);
  addList(command, context, 'user');
  addList(command, context, 'cluster');
  for (const kind of ['context', 'user', 'cluster'] as const) addDeletion(command, context, kind);
  addRenaming(command, context);
  addSet(command, context);
  addUnset(command, context);
}

function addCredentials(command: Command, context: CommandContext): void {
  command
    .command('set-credentials')
    .description('create or change a user; --token sets its token')
    .argument('<name>', 'name of the user')
    .option('--client-certificate <file>', 'client certificate of the user')
    .option('--client-key <file>', 'key of the client certificate')
    .option('--embed-certs', 'store the content of the files instead of their paths')
    .option('--username <name>', 'user name of basic authentication')
    .option('--password <text>', 'password of basic authentication')
    .action((name: string, options: CredentialsOptions) => {
      const { clientCertificate, clientKey, embedCerts = false } = options;
      if (embedCerts && clientCertificate === undefined && clientKey === undefined) {
        throw new UsageError('you must specify a --client-certificate or --client-key to embed');
      }
      const changes = {
        ...credentialChanges({ ...options, token: context.globals.token }),
        ...pemFields('client-certificate', clientCertificate, embedCerts),
        ...pemFields('client-key', clientKey, embedCerts),
      };
      changeKubeconfig(context.globals, (config) => withUser(config, name, changes));
      context.io.out(`User "${name}" set.\n`);
    });
}

function addCluster(command: Command, context: CommandContext): void {
  command
    .command('set-cluster')
    .description(
      'create or change a cluster; --server, --certificate-authority and --insecure-skip-tls-verify set its fields',
    )
    .argument('<name>', 'name of the cluster')
    .option('--embed-certs', 'store the content of the CA file instead of its path')
    .option('--tls-server-name <name>', 'name to expect in the certificate of the server')
    .action((name: string, { embedCerts = false, tlsServerName }: ClusterOptions) => {
      const { globals } = context;
      const { server, certificateAuthority: authority, insecureSkipTlsVerify } = globals;
      if (authority !== undefined && insecureSkipTlsVerify) {
        throw new UsageError(
          'you cannot specify a certificate authority and insecure mode at the same time',
        );
      }
      if (embedCerts && authority === undefined) {
        throw new UsageError('you must specify a --certificate-authority to embed');
      }
      if (server !== undefined && !(/^https?:\/\//.test(server) && URL.canParse(server))) {
        throw new UsageError(
          `--server: want a URL such as https://127.0.0.1:6443, got "${server}"`,
        );
      }
      // An authority and the insecure mode exclude each other.
      const changes = {
        ...(server !== undefined && { server }),
        ...(tlsServerName !== undefined && { 'tls-server-name': tlsServerName || undefined }),
        ...(authority !== undefined && { 'insecure-skip-tls-verify': undefined }),
        ...pemFields('certificate-authority', authority, embedCerts),
        ...(insecureSkipTlsVerify && {
          'insecure-skip-tls-verify': true,
          'certificate-authority': undefined,
          'certificate-authority-data': undefined,
        }),
      };
      changeKubeconfig(globals, (config) => withCluster(config, name, changes));
      context.io.out(`Cluster "${name}" set.\n`);
    });
}

function addList(command: Command, context: CommandContext, kind: EntryKind): void {
  command
    .command(`get-${kind}s`)
    .description(`list the ${kind}s`)
    .action(() => {
      const { config } = existingKubeconfig(context.globals);
      const names = entryNames(config, kind).sort();
      context.io.out(['NAME', ...names].map((name) => `${name}\n`).join(''));
    });
}

function addDeletion(command: Command, context: CommandContext, kind: EntryKind): void {
  command
    .command(`delete-${kind}`)
    .description(`delete a ${kind}`)
    .argument('<name>', `name of the ${kind}`)
    .action((name: string) => {
      const { globals, io } = context;
      let isActive = false;
      existingKubeconfig(globals);
      const file = changeKubeconfig(globals, (config, path) => {
        isActive = kind === 'context' && config['current-context'] === name;
        const changed = withoutEntry(config, kind, name);
        if (!changed) throw new CliError(`cannot delete ${kind} ${name}, not in ${path}`);
        return changed;
      });
      if (isActive) {
        io.err(
          'warning: this removed your active context, use "orchctl config use-context" to select a different one\n',
        );
      }
      io.out(`deleted ${kind} ${name} from ${file}\n`);
    });
}

function addRenaming(command: Command, context: CommandContext): void {
  command
    .command('rename-context')
    .description('rename a context; it stays the current context if it is')
    .argument('<name>', 'name of the context')
    .argument('<new-name>', 'its new name')
    .action((name: string, newName: string) => {
      const { globals, io } = context;
      if (newName === '') throw new UsageError('You must specify a new non-empty context name');
      existingKubeconfig(globals);
      changeKubeconfig(globals, (config, path) => {
        const names = entryNames(config, 'context');
        if (!names.includes(name)) {
          throw new CliError(`cannot rename the context "${name}", it's not in ${path}`);
        }
        if (names.includes(newName)) {
          throw new CliError(
            `cannot rename the context "${name}", the context "${newName}" already exists in ${path}`,
          );
        }
        return withContextName(config, name, newName);
      });
      io.out(`Context "${name}" renamed to "${newName}".\n`);
    });
}

function addSet(command: Command, context: CommandContext): void {
  command
    .command('set')
    .description('set a property, such as current-context or contexts.NAME.namespace')
    .argument('<property>', 'names separated by dots')
    .argument('<value>', 'its value; base64 for fields of bytes')
    .option('--set-raw-bytes', 'the value of a field of bytes is the bytes themselves')
    .action((property: string, value: string, { setRawBytes = false }: SetOptions) => {
      changeKubeconfig(context.globals, (config) =>
        withProperty(config, property, value, setRawBytes),
      );
      context.io.out(`Property "${property}" set.\n`);
    });
}

function addUnset(command: Command, context: CommandContext): void {
  command
    .command('unset')
    .description('remove a property, such as current-context or contexts.NAME.namespace')
    .argument('<property>', 'names separated by dots')
    .action((property: string) => {
      existingKubeconfig(context.globals);
      changeKubeconfig(context.globals, (config) => withoutProperty(config, property));
      context.io.out(`Property "${property}" unset.\n`);
    });
}
