/** TLS settings and credentials of requests to the server of a kubeconfig. */
import { readFile } from 'node:fs/promises';
import {
  type ConnectionConfig,
  type Dial,
  expectingName,
  KubeconfigError,
  type UserCredentials,
} from '@orch/component';
import { ConnectionPool } from './connection-pool.js';

/**
 * `use` names the purpose in errors; without `dial`, connections are direct. Throws KubeconfigError
 * for credentials of a plug-in.
 */
export function connectionPoolOf(
  connection: ConnectionConfig,
  use: string,
  dial?: Dial,
): ConnectionPool {
  checkCredentials(connection, use);
  const { certificateAuthorityPem, clientCertificatePem, clientKeyPem, tlsServerName } = connection;
  return new ConnectionPool({
    tls: {
      rejectUnauthorized: connection.insecureSkipTlsVerify !== true,
      ...(certificateAuthorityPem && { ca: certificateAuthorityPem }),
      ...(clientCertificatePem && { cert: clientCertificatePem }),
      ...(clientKeyPem && { key: clientKeyPem }),
      ...(tlsServerName && expectingName(tlsServerName)),
    },
    dial,
  });
}

/** Throws KubeconfigError for credentials of a plug-in. */
export function checkCredentials({ exec }: Pick<UserCredentials, 'exec'>, use: string): void {
  if (exec) throw new KubeconfigError(`the ${use} does not support credential plug-ins`);
}

/** Reads the token file for each request, because it may be rotated. */
export async function authorizationOf(credentials: UserCredentials): Promise<string | undefined> {
  const { token, tokenFile, username, password = '' } = credentials;
  const bearer = tokenFile ? (await readFile(tokenFile, 'utf8')).trim() : token;
  if (bearer) return `Bearer ${bearer}`;
  if (username === undefined) return undefined;
  return `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;
}
