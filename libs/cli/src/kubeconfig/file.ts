/** Reads and rewrites the kubeconfig file of a command line. */
import { existsSync, mkdirSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { errorMessage, type Kubeconfig, readKubeconfig, writeKubeconfig } from '@orch/component';
import { CliError, UsageError } from '../command-line/errors.js';
import type { GlobalOptions } from '../command-line/global-options.js';
import { kubeconfigPath } from '../session/connection.js';

/** Bytes of a certificate or key file. Higher: larger mistakes are embedded in the kubeconfig. */
const pemBytesMax = 1024 * 1024;

const empty: Kubeconfig = {
  apiVersion: 'v1',
  kind: 'Config',
  clusters: [],
  contexts: [],
  users: [],
  'current-context': '',
};

/** Throws `CliError` if there is no file. */
export function existingKubeconfig(globals: GlobalOptions): { path: string; config: Kubeconfig } {
  const path = kubeconfigPath(globals);
  if (!path) throw new CliError('no kubeconfig found; give one with --kubeconfig');
  return { path, config: readKubeconfig(path) };
}

/** Writes the result of `change`; creates the file if it is missing. Returns its path. */
export function changeKubeconfig(
  globals: GlobalOptions,
  change: (config: Kubeconfig, path: string) => Kubeconfig,
): string {
  const path = kubeconfigPath(globals) ?? join(homedir(), '.orch', 'config');
  if (!existsSync(path)) {
    const config = change(empty, path);
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    writeKubeconfig(path, config);
    return path;
  }
  // The file is replaced, and a link to it must stay.
  writeKubeconfig(realpathSync(path), change(readKubeconfig(path), path));
  return path;
}

/** The fields for a PEM file: its absolute path, or its content if it is embedded. */
export function pemFields<Name extends string>(
  field: Name,
  file: string | undefined,
  isEmbedded: boolean,
): { [Key in Name | `${Name}-data`]?: string | undefined } {
  if (file === undefined) return {};
  const fields = isEmbedded
    ? { [field]: undefined, [`${field}-data`]: base64Of(field, file) }
    : { [field]: resolve(file), [`${field}-data`]: undefined };
  return fields as { [Key in Name | `${Name}-data`]?: string | undefined };
}

function base64Of(field: string, file: string): string {
  try {
    if (statSync(file).size <= pemBytesMax) return readFileSync(file).toString('base64');
  } catch (error) {
    throw new UsageError(`--${field}: cannot read ${file}: ${errorMessage(error)}`);
  }
  throw new UsageError(`--${field}: ${file} is larger than ${pemBytesMax} bytes`);
}
