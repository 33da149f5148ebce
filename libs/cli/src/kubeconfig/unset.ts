/** Removes one property of a kubeconfig, for `config unset`. Pure. */
import type { Kubeconfig } from '@orch/component';
import { CliError } from '../command-line/errors.js';
import {
  type EntryKind,
  entryNames,
  withCluster,
  withContext,
  withoutEntry,
  withUser,
} from './entries.js';

const kinds: Readonly<Record<string, EntryKind>> = {
  clusters: 'cluster',
  users: 'user',
  contexts: 'context',
};

const topFields = ['kind', 'apiVersion', 'preferences', 'current-context', 'extensions'];

/** The fields of entries. A property name ends at the first of them, since names contain dots. */
const fields: Readonly<Record<EntryKind, readonly string[]>> = {
  cluster: [
    'server',
    'tls-server-name',
    'insecure-skip-tls-verify',
    'certificate-authority',
    'certificate-authority-data',
    'proxy-url',
    'extensions',
  ],
  user: [
    'client-certificate',
    'client-certificate-data',
    'client-key',
    'client-key-data',
    'token',
    'tokenFile',
    'as',
    'as-groups',
    'as-user-extra',
    'username',
    'password',
    'auth-provider',
    'exec',
    'extensions',
  ],
  context: ['cluster', 'user', 'namespace', 'extensions'],
};

/**
 * The configuration without `property`: a field (`current-context`), a list (`users`), an entry
 * (`contexts.NAME`) or a field of an entry (`contexts.NAME.namespace`). If the entry does not
 * exist, returns `config`. Throws `CliError`.
 */
export function withoutProperty(config: Kubeconfig, property: string): Kubeconfig {
  if (property === '') throw new CliError('you must specify a property');
  const [first = '', ...rest] = property.split('.');
  const kind = Object.hasOwn(kinds, first) ? kinds[first] : undefined;
  if (kind) {
    if (rest.length === 0) return { ...config, [first]: [] };
    return withoutPart(config, kind, rest, property);
  }
  if (!topFields.includes(first)) {
    throw new CliError(`unable to parse ${property} after [] at api.Config`);
  }
  if (rest.length > 0) throw unreadable(property);
  // The file always has these two fields.
  if (first === 'kind' || first === 'apiVersion') return config;
  if (first === 'current-context') return { ...config, [first]: '' };
  const kept: Kubeconfig & Record<string, unknown> = { ...config };
  delete kept[first];
  return kept;
}

/** `parts` are the dotted parts after the name of the list. */
function withoutPart(
  config: Kubeconfig,
  kind: EntryKind,
  parts: readonly string[],
  property: string,
): Kubeconfig {
  const at = parts.findIndex((part, index) => index > 0 && fields[kind].includes(part));
  const name = parts.slice(0, at < 0 ? undefined : at).join('.');
  if (at < 0) return withoutEntry(config, kind, name) ?? config;
  if (at < parts.length - 1) throw unreadable(property);
  if (!entryNames(config, kind).includes(name)) {
    throw new CliError(`current map key \`${name}\` is invalid`);
  }
  const field = parts[at]!;
  // An entry always has its required fields.
  if (kind === 'cluster') {
    return withCluster(config, name, field === 'server' ? { server: '' } : { [field]: undefined });
  }
  if (kind === 'user') return withUser(config, name, { [field]: undefined });
  const isRequired = field === 'cluster' || field === 'user';
  return withContext(config, name, { [field]: isRequired ? '' : undefined });
}

function unreadable(property: string): CliError {
  return new CliError(`unable to parse one or more field values of ${property}`);
}
