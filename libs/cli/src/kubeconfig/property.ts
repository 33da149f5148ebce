/** Names of properties of a kubeconfig, for `config set` and `config unset`. Pure. */
import { CliError } from '../command-line/errors.js';
import type { EntryKind } from './entries.js';

/** A field of the file, a list of entries, an entry, or a field of an entry. */
export type Property =
  | { readonly of: 'file'; readonly field: string }
  | { readonly of: 'list'; readonly list: string }
  | { readonly of: 'list entry'; readonly kind: EntryKind; readonly name: string }
  | {
      readonly of: 'entry field';
      readonly kind: EntryKind;
      readonly name: string;
      readonly field: string;
    };

const kinds: Readonly<Record<string, EntryKind>> = {
  clusters: 'cluster',
  users: 'user',
  contexts: 'context',
};

const fileFields = ['kind', 'apiVersion', 'preferences', 'current-context', 'extensions'];

/** The fields of entries. A property name ends at the first of them, since names contain dots. */
const fields: Readonly<Record<EntryKind, readonly string[]>> = {
  cluster: [
    'server',
    'tls-server-name',
    'insecure-skip-tls-verify',
    'certificate-authority',
    'certificate-authority-data',
    'proxy-url',
    'disable-compression',
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
    'as-uid',
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

/** Throws `CliError`. The entry need not exist. */
export function parseProperty(property: string): Property {
  if (property === '') throw new CliError('you must specify a property');
  const [first = '', ...rest] = property.split('.');
  const kind = Object.hasOwn(kinds, first) ? kinds[first] : undefined;
  if (!kind) {
    if (!fileFields.includes(first)) {
      throw new CliError(`unable to parse ${property} after [] at api.Config`);
    }
    if (rest.length > 0) throw unreadable(property);
    return { of: 'file', field: first };
  }
  if (rest.length === 0) return { of: 'list', list: first };
  const at = rest.findIndex((part, index) => index > 0 && fields[kind].includes(part));
  const name = rest.slice(0, at < 0 ? undefined : at).join('.');
  if (at < 0) return { of: 'list entry', kind, name };
  if (at < rest.length - 1) throw unreadable(property);
  return { of: 'entry field', kind, name, field: rest[at]! };
}

function unreadable(property: string): CliError {
  return new CliError(`unable to parse one or more field values of ${property}`);
}
