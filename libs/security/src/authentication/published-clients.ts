/** The clients that an API server trusts, as it publishes them for servers behind it. */
import { authenticationConfigMap } from '@orch/component';

/** Users that prove who they are by a certificate, and proxies that name the user in headers. */
export interface TrustedClients {
  readonly users?: TrustedUsers | undefined;
  readonly proxies?: TrustedProxies | undefined;
}

export interface TrustedUsers {
  readonly authoritiesPem: string;
  /** Where the authorities are from, for errors. */
  readonly source: string;
}

export interface TrustedProxies extends TrustedUsers {
  readonly allowedNames: readonly string[];
  readonly userHeaders: readonly string[];
  readonly groupHeaders: readonly string[];
  readonly extraPrefixes: readonly string[];
}

/** Throws SyntaxError if a list of names is not valid. */
export function publishedClients(data: Readonly<Record<string, string>>): TrustedClients {
  const source = (key: string) => `${key} of the config map ${authenticationConfigMap}`;
  const users = data['client-ca-file'];
  const proxies = data['requestheader-client-ca-file'];
  const names = (key: string) => nameList(data[`requestheader-${key}`], source(key));
  return {
    ...(users && { users: { authoritiesPem: users, source: source('client-ca-file') } }),
    ...(proxies && {
      proxies: {
        authoritiesPem: proxies,
        source: source('requestheader-client-ca-file'),
        allowedNames: names('allowed-names'),
        userHeaders: names('username-headers'),
        groupHeaders: names('group-headers'),
        extraPrefixes: names('extra-headers-prefix'),
      },
    }),
  };
}

function nameList(text: string | undefined, source: string): readonly string[] {
  if (!text) return [];
  const names: unknown = JSON.parse(text);
  if (Array.isArray(names) && names.every((name) => typeof name === 'string')) return names;
  throw new SyntaxError(`${source} is no list of strings`);
}
