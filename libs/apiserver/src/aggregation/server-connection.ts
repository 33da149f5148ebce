/**
 * The connections to one aggregated API server: a pool whose handshakes name the service, present
 * the front-proxy certificate and verify the CA bundle of the registration.
 */
import type { Agent } from 'node:https';
import { createSecureContext } from 'node:tls';
import { type Dial, httpsAgent, type KeyPairPem } from '@orch/component';
import { aggregatedIdleConnectionsMax, aggregatedIdleTimeoutMs } from '../limits.js';

export interface ServerConnectionOptions {
  /** The expected name of the server's certificate. */
  readonly serverName: string;
  /** Base64 of PEM; empty: the system's trust store. */
  readonly caBundle: string;
  readonly verify: boolean;
  /** The certificate of this server as a proxy; undefined: none. */
  readonly certificate: KeyPairPem | undefined;
  /** Undefined: connections are direct. */
  readonly dial: Dial | undefined;
}

/** Creates a pool. Throws an Error if a certificate cannot be parsed. */
export function connectionPool(options: ServerConnectionOptions): Agent {
  const { serverName, caBundle, verify, certificate, dial } = options;
  const tls = {
    keepAlive: true,
    maxFreeSockets: aggregatedIdleConnectionsMax,
    timeout: aggregatedIdleTimeoutMs,
    servername: serverName,
    rejectUnauthorized: verify,
    secureContext: createSecureContext({
      ...(caBundle !== '' && { ca: Buffer.from(caBundle, 'base64') }),
      ...(certificate && { cert: certificate.certificatePem, key: certificate.keyPem }),
    }),
  };
  return httpsAgent(tls, dial);
}

/** Closes the idle connections; those in use end with their request. */
export function drainPool(pool: Agent): void {
  pool.maxFreeSockets = 0;
  for (const sockets of Object.values(pool.freeSockets)) {
    for (const socket of sockets ?? []) socket.destroy();
  }
}
