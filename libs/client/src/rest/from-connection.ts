/** Client options out of a kubeconfig's connection. */
import { readFileSync, statSync } from 'node:fs';
import { type ConnectionConfig, KubeconfigError } from '@orch/component';
import type { RestClientOptions } from './rest-types.js';

const tokenCheckMs = 10_000;

/**
 * Options for the servers and the user that `connection` names. Credential plug-ins are not run here.
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
 * Reads the file again when it has changed, looking at most every ten seconds. While it is away, as when
 * it is being replaced, the last token goes on: the server refuses it once it is no longer good.
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
