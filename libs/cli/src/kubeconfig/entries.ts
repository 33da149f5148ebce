/** Changes of kubeconfig entries. Each function returns a new configuration. Pure. */
import type {
  Kubeconfig,
  KubeconfigCluster,
  KubeconfigContext,
  KubeconfigUser,
} from '@orch/component';
import { UsageError } from '../command-line/errors.js';

/** Values to set. An undefined value removes the field; a missing one leaves it. */
export type Changes<T> = { readonly [Key in keyof T]?: T[Key] | undefined };

export type EntryKind = 'cluster' | 'user' | 'context';

const lists = { cluster: 'clusters', user: 'users', context: 'contexts' } as const;

export function entryNames(config: Kubeconfig, kind: EntryKind): string[] {
  return config[lists[kind]].map(({ name }) => name);
}

export function withCluster(
  config: Kubeconfig,
  name: string,
  changes: Changes<KubeconfigCluster>,
): Kubeconfig {
  const before = config.clusters.find((entry) => entry.name === name)?.cluster;
  const cluster = merged({ server: '', ...before }, changes);
  // The list of all servers belongs to the old address.
  if (changes.server !== undefined) {
    const others = cluster.extensions?.filter((extension) => extension.name !== 'endpoints') ?? [];
    if (others.length > 0) cluster.extensions = others;
    else delete cluster.extensions;
  }
  return { ...config, clusters: withEntry(config.clusters, { name, cluster }) };
}

export function withUser(
  config: Kubeconfig,
  name: string,
  changes: Changes<KubeconfigUser>,
): Kubeconfig {
  const before = config.users.find((entry) => entry.name === name)?.user ?? {};
  return { ...config, users: withEntry(config.users, { name, user: merged(before, changes) }) };
}

export function withContext(
  config: Kubeconfig,
  name: string,
  changes: Changes<KubeconfigContext>,
): Kubeconfig {
  const before = config.contexts.find((entry) => entry.name === name)?.context;
  const context = merged({ cluster: '', user: '', ...before }, changes);
  return { ...config, contexts: withEntry(config.contexts, { name, context }) };
}

/** Renames a context, also as the current one. */
export function withContextName(config: Kubeconfig, name: string, newName: string): Kubeconfig {
  return {
    ...config,
    contexts: config.contexts.map((entry) =>
      entry.name === name ? { ...entry, name: newName } : entry,
    ),
    'current-context': config['current-context'] === name ? newName : config['current-context'],
  };
}

/** Undefined if there is no such entry. */
export function withoutEntry(
  config: Kubeconfig,
  kind: EntryKind,
  name: string,
): Kubeconfig | undefined {
  if (!entryNames(config, kind).includes(name)) return undefined;
  const kept = <T extends { name: string }>(list: T[]) => list.filter((it) => it.name !== name);
  if (kind === 'cluster') return { ...config, clusters: kept(config.clusters) };
  if (kind === 'user') return { ...config, users: kept(config.users) };
  return { ...config, contexts: kept(config.contexts) };
}

/** Replaces the entry with this name, or appends it. */
function withEntry<T extends { name: string }>(list: readonly T[], entry: T): T[] {
  const index = list.findIndex(({ name }) => name === entry.name);
  if (index < 0) return [...list, entry];
  return list.map((existing, at) => (at === index ? { ...existing, ...entry } : existing));
}

function merged<T extends object>(before: T, changes: Changes<T>): T {
  const fields = Object.entries({ ...before, ...changes }).filter(
    ([, value]) => value !== undefined,
  );
  return Object.fromEntries(fields) as T;
}

/** The credentials of `set-credentials`. Tokens and passwords exclude each other. */
export interface CredentialFlags {
  readonly token?: string;
  readonly username?: string;
  readonly password?: string;
}

/** The changes for a token or a password; each replaces the other. Throws `UsageError` for both. */
export function credentialChanges(flags: CredentialFlags): Changes<KubeconfigUser> {
  const { token, username, password } = flags;
  const isBasic = username !== undefined || password !== undefined;
  if (token !== undefined && isBasic) {
    throw new UsageError(
      'you cannot specify more than one authentication method at the same time: --token, --username/--password',
    );
  }
  if (token !== undefined) {
    return { token, tokenFile: undefined, username: undefined, password: undefined };
  }
  if (!isBasic) return {};
  return {
    token: undefined,
    tokenFile: undefined,
    ...(username !== undefined && { username }),
    ...(password !== undefined && { password }),
  };
}
