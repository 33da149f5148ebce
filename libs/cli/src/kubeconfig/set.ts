/** Sets one property of a kubeconfig, for `config set`. Pure. */
import type { Kubeconfig } from '@orch/component';
import { CliError } from '../command-line/errors.js';
import { withCluster, withContext, withUser } from './entries.js';
import { parseProperty } from './property.js';

/** Fields of entries that have several values, which `config set` cannot give. */
const compoundFields = ['as-groups', 'as-user-extra', 'auth-provider', 'exec', 'extensions'];
const booleanFields = ['insecure-skip-tls-verify', 'disable-compression'];
/** The file has bytes as base64. */
const bytesSuffix = '-data';

/**
 * The configuration with the value of `property`: a field (`current-context`) or a field of an
 * entry (`contexts.NAME.namespace`), which is created if it is missing. `isRaw`: the value of a
 * field of bytes is the bytes, and not their base64. Throws `CliError`.
 */
export function withProperty(
  config: Kubeconfig,
  property: string,
  value: string,
  isRaw: boolean,
): Kubeconfig {
  if (value === '') throw new CliError('you cannot use set to unset a property');
  const parsed = parseProperty(property);
  switch (parsed.of) {
    case 'file':
      return withFileField(config, parsed.field, value);
    case 'list':
    case 'list entry':
      throw new CliError(`can't set a map to a value: ${property}`);
    case 'entry field': {
      const { kind, name, field } = parsed;
      if (compoundFields.includes(field)) throw new CliError(`cannot set ${property} to one value`);
      const changes = { [field]: fieldValue(field, value, isRaw) };
      if (kind === 'cluster') return withCluster(config, name, changes);
      return kind === 'user' ? withUser(config, name, changes) : withContext(config, name, changes);
    }
  }
}

function withFileField(config: Kubeconfig, field: string, value: string): Kubeconfig {
  if (field === 'kind' || field === 'apiVersion') {
    if (value === config[field]) return config;
    throw new CliError(`${field}: a kubeconfig always has ${config[field]}`);
  }
  if (field === 'current-context') return { ...config, [field]: value };
  throw new CliError(`cannot set ${field} to one value`);
}

function fieldValue(field: string, value: string, isRaw: boolean): string | boolean {
  if (booleanFields.includes(field)) return booleanOf(field, value);
  if (!field.endsWith(bytesSuffix)) return value;
  if (isRaw) return Buffer.from(value).toString('base64');
  if (Buffer.from(value, 'base64').toString('base64') !== value) {
    throw new CliError(`${field}: want base64, or the bytes themselves with --set-raw-bytes`);
  }
  return value;
}

function booleanOf(field: string, value: string): boolean {
  if (['1', 't', 'T', 'true', 'TRUE', 'True'].includes(value)) return true;
  if (['0', 'f', 'F', 'false', 'FALSE', 'False'].includes(value)) return false;
  throw new CliError(`${field}: want true or false, got ${value}`);
}
