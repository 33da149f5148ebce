/** The connection of a command line: kubeconfig, environment and global flags. */
import { existsSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { type ConnectionConfig, connectionOf, errorMessage, readKubeconfig } from '@orch/component';
import { CliError, UsageError } from '../command-line/errors.js';
import type { GlobalOptions } from '../command-line/global-options.js';

/**
 * The kubeconfig in use: `--kubeconfig`, `$KUBECONFIG`, the cluster of the checkout, the user's
 * file.
 */
export function kubeconfigPath(globals: GlobalOptions): string | undefined {
  if (globals.kubeconfig) return globals.kubeconfig;
  // `$KUBECONFIG` may list several files. This tool reads the first one that exists.
  const fromEnvironment = process.env.KUBECONFIG?.split(':').filter((path) => path !== '') ?? [];
  if (fromEnvironment.length > 0) {
    return fromEnvironment.find((path) => existsSync(path)) ?? fromEnvironment[0];
  }
  return [join('.orch', 'kubeconfig'), join(homedir(), '.orch', 'config')].find((path) =>
    existsSync(path),
  );
}

export function connectionFrom(globals: GlobalOptions): ConnectionConfig {
  const path = kubeconfigPath(globals);
  const { server, token, certificateAuthority, insecureSkipTlsVerify } = globals;
  if (globals.asGroup && !globals.as) throw new UsageError('--as-group: give --as too');
  if (!path && !server) {
    throw new CliError(
      'no cluster is configured: start one with `npm run up`, or give a file with --kubeconfig',
    );
  }
  const fromFile = path && usable(path, globals) ? connectionOf(path, globals.context) : undefined;
  if (fromFile?.exec && !token) {
    throw new CliError(
      `the user of ${path} has a credential plug-in (${fromFile.exec.command}), which orchctl does not run: give --token`,
    );
  }
  return {
    ...(fromFile ?? { server: '' }),
    ...(server && { server: serverUrl(server), servers: undefined }),
    ...(token && { token, tokenFile: undefined }),
    ...(certificateAuthority && { certificateAuthorityPem: readPem(certificateAuthority) }),
    ...(insecureSkipTlsVerify && { insecureSkipTlsVerify }),
    // The user and the groups of the flags replace those of the kubeconfig together.
    ...(globals.as && { impersonateUser: globals.as, impersonateGroups: globals.asGroup ?? [] }),
  };
}

/** Whether the file has a context to use. With `--server` it may lack a current context. */
function usable(path: string, globals: GlobalOptions): boolean {
  if (!globals.server || globals.context) return true;
  return existsSync(path) && readKubeconfig(path)['current-context'] !== '';
}

function serverUrl(text: string): string {
  if (/^https?:\/\//.test(text) && URL.canParse(text)) return text.replace(/\/+$/, '');
  throw new UsageError(`--server: want a URL such as https://127.0.0.1:6443, got "${text}"`);
}

function readPem(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    const cause = errorMessage(error);
    throw new UsageError(`--certificate-authority: ${cause}`);
  }
}
