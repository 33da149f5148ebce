/** Converts the connection of a kubeconfig to client options. */
import { readFileSync, statSync } from 'node:fs';
import { type ConnectionConfig, KubeconfigError } from '@orch/component';
import type { RestClientOptions } from './rest-types.js';

const tokenCheckMs = 10_000;

/**
 * Returns options for the servers and the user of `connection`. Does not run credential plugins.
 */
export function restClientOptions(connection: ConnectionConfig): RestClientOptions {
  const { clientCertificatePem: certificate, clientKeyPem: key } = connection;
  if ((certificate === undefined) !== (key === undefined)) {
    throw new KubeconfigError('a client certificate and its key must be given together');
  }
  const token = connection.tokenFile ? rotatingToken(connection.tokenFile) : connection.token;
  return {
    servers: connection.servers ?? [connection.server],
    ...(connection.certificateAuthorityPem ? { ca: connection.certificateAuthorityPem } : {}),
    ...(connection.insecureSkipTlsVerify ? { insecureSkipTlsVerify: true } : {}),
    ...(connection.tlsServerName ? { tlsServerName: connection.tlsServerName } : {}),
    ...(certificate && key ? { clientCertificate: { certificate, key } } : {}),
    ...(token ? { token } : {}),
    ...(connection.username !== undefined
      ? { basicAuth: { username: connection.username, password: connection.password ?? '' } }
      : {}),
    ...(connection.impersonateUser
      ? {
          impersonate: {
            user: connection.impersonateUser,
            groups: connection.impersonateGroups ?? [],
          },
        }
      : {}),
  };
}

/**
 * Reads the file again when it has changed, which it checks at most every ten seconds. While the
 * file is missing, as during its replacement, it returns the last token, which the server rejects
 * once it has expired.
 */
function rotatingToken(path: string): () => string {
  let token = '';
  let modifiedMs = -1;
  let checkedMs = Number.NEGATIVE_INFINITY;
  return () => {
    if (performance.now() - checkedMs < tokenCheckMs) return token;
    checkedMs = performance.now();
    const mtimeMs = statSync(path, { throwIfNoEntry: token === '' })?.mtimeMs ?? modifiedMs;
    if (mtimeMs !== modifiedMs) {
      token = readFileSync(path, 'utf8').trim();
      modifiedMs = mtimeMs;
    }
    return token;
  };
}
