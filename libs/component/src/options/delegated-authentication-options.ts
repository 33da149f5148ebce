/**
 * Flags of the authentication at the server of a component that delegates to the API server.
 * If no flag sets the authorities, the published ones of the API server apply.
 */
import { Flag, Flags } from './flag.js';
import { ProxyAuthenticationOptions } from './proxy-authentication-options.js';

export class DelegatedAuthenticationOptions {
  @Flags(ProxyAuthenticationOptions)
  readonly proxy!: ProxyAuthenticationOptions;

  @Flag({
    name: 'authentication-skip-lookup',
    description:
      'do not read the authorities of clients and proxies that the API server publishes; only certificates of --client-ca-file and --requestheader-client-ca-file are then accepted',
    default: false,
  })
  skipLookup!: boolean;

  @Flag({
    name: 'authentication-tolerate-lookup-failure',
    description:
      'continue if the API server refuses to show the published authorities, and accept client certificates when it does; otherwise the process ends',
    default: false,
  })
  toleratesLookupFailure!: boolean;
}
