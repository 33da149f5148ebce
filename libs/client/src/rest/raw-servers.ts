/**
 * Addresses, headers and TLS options of the API servers, for callers that open connections of their
 * own because they use another protocol than HTTP requests. The caller chooses the server.
 */
import type { ConnectionOptions } from 'node:tls';
import { dialect, expectingName } from '@orch/component';
import { encodeRequest, fixedHeaders } from './request-encoding.js';
import type { RestClientOptions } from './rest-types.js';

export interface RawServer {
  /** Without a trailing slash. */
  readonly url: string;
  /** Credentials, impersonated user and user agent. */
  readonly headers: Readonly<Record<string, string | string[]>>;
  readonly tls: {
    readonly ca?: string | Buffer;
    readonly cert?: string | Buffer;
    readonly key?: string | Buffer;
    readonly servername?: string;
    readonly checkServerIdentity?: ConnectionOptions['checkServerIdentity'];
    readonly rejectUnauthorized: boolean;
  };
}

export function rawServers(options: RestClientOptions): RawServer[] {
  const { ca, clientCertificate, tlsServerName, insecureSkipTlsVerify } = options;
  const userAgent = options.userAgent ?? dialect().systemName('client');
  const { headers } = encodeRequest({}, fixedHeaders({ ...options, userAgent }), options);
  const { accept: _any, ...identity } = headers;
  return options.servers.map((server) => ({
    url: server.replace(/\/+$/, ''),
    headers: identity,
    tls: {
      rejectUnauthorized: !insecureSkipTlsVerify,
      ...(ca && { ca }),
      ...(clientCertificate && { cert: clientCertificate.certificate, key: clientCertificate.key }),
      ...(tlsServerName && expectingName(tlsServerName)),
    },
  }));
}
