/** TLS settings and credentials of requests to the server of a kubeconfig. */
import { readFile } from 'node:fs/promises';
import type { Agent as HttpAgent } from 'node:http';
import type { Agent as HttpsAgent } from 'node:https';
import {
  type ConnectionConfig,
  type Dial,
  httpAgent,
  httpsAgent,
  KubeconfigError,
  type UserCredentials,
} from '@orch/component';
import { webhookIdleConnectionMs, webhookIdleConnectionsMax } from '../limits.js';

/** The settings of every agent that calls webhooks. */
export const keptConnections = {
  keepAlive: true,
  timeout: webhookIdleConnectionMs,
  maxFreeSockets: webhookIdleConnectionsMax,
} as const;

/**
 * `use` names the purpose in errors; without `dial`, connections are direct. Throws KubeconfigError
 * for credentials of a plug-in.
 */
export function agentOf(
  connection: ConnectionConfig,
  use: string,
  dial?: Dial,
): HttpAgent | HttpsAgent {
  checkCredentials(connection, use);
  if (new URL(connection.server).protocol === 'http:') return httpAgent(keptConnections, dial);
  const { certificateAuthorityPem, clientCertificatePem, clientKeyPem, tlsServerName } = connection;
  const tls = {
    ...keptConnections,
    rejectUnauthorized: connection.insecureSkipTlsVerify !== true,
    ...(certificateAuthorityPem && { ca: certificateAuthorityPem }),
    ...(clientCertificatePem && { cert: clientCertificatePem }),
    ...(clientKeyPem && { key: clientKeyPem }),
    ...(tlsServerName && { servername: tlsServerName }),
  };
  return httpsAgent(tls, dial);
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
