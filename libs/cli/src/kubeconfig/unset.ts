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
import { parseProperty } from './property.js';

/**
 * The configuration without `property`: a field (`current-context`), a list (`users`), an entry
 * (`contexts.NAME`) or a field of an entry (`contexts.NAME.namespace`). If the entry does not
 * exist, returns `config`. Throws `CliError`.
 */
export function withoutProperty(config: Kubeconfig, property: string): Kubeconfig {
  const parsed = parseProperty(property);
  switch (parsed.of) {
    case 'file':
      return withoutFileField(config, parsed.field);
    case 'list':
      return { ...config, [parsed.list]: [] };
    case 'list entry':
      return withoutEntry(config, parsed.kind, parsed.name) ?? config;
    case 'entry field':
      return withoutEntryField(config, parsed.kind, parsed.name, parsed.field);
  }
}

function withoutFileField(config: Kubeconfig, field: string): Kubeconfig {
  // The file always has these two fields.
  if (field === 'kind' || field === 'apiVersion') return config;
  if (field === 'current-context') return { ...config, [field]: '' };
  const kept: Kubeconfig & Record<string, unknown> = { ...config };
  delete kept[field];
  return kept;
}

function withoutEntryField(
  config: Kubeconfig,
  kind: EntryKind,
  name: string,
  field: string,
): Kubeconfig {
  if (!entryNames(config, kind).includes(name)) {
    throw new CliError(`current map key \`${name}\` is invalid`);
  }
  // An entry always has its required fields.
  if (kind === 'cluster') {
    return withCluster(config, name, field === 'server' ? { server: '' } : { [field]: undefined });
  }
  if (kind === 'user') return withUser(config, name, { [field]: undefined });
  const isRequired = field === 'cluster' || field === 'user';
  return withContext(config, name, { [field]: isRequired ? '' : undefined });
}
