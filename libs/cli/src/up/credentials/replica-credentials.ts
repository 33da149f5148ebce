/**
 * The credentials that the API servers share besides their serving certificate: peer certificates
 * and the front-proxy certificate, each from an authority of its own, and the key that signs
 * service account tokens.
 */
import { generateKeyPair } from 'node:crypto';
import { existsSync } from 'node:fs';
import { promisify } from 'node:util';
import {
  dialect,
  ensureAuthority,
  ensureCertificate,
  systemClock,
  writeFileAtomic,
} from '@orch/component';
import { apiServerName, apiServerOrdinals } from '../cluster/api-server-addresses.js';
import { type ClusterConfig, clusterPaths } from '../cluster/cluster-directory.js';
import {
  authorityValidMs,
  certificateValidMs,
  frontProxyAuthority,
  frontProxyClient,
  loopbackHosts,
  peerAuthority,
  serviceAccountKey,
} from './credential-files.js';

const signingKeyBits = 2048;

/** Creates or renews the peer certificates. Their common name is the name of the member. */
export async function ensurePeerCertificates(
  dataDirectory: string,
  settings: ClusterConfig,
): Promise<void> {
  const { pki } = clusterPaths(dataDirectory);
  const authority = await ensureAuthority(
    pki,
    peerAuthority,
    `${dialect().word}-peer-ca`,
    authorityValidMs,
    systemClock,
  );
  for (const ordinal of apiServerOrdinals(settings)) {
    const commonName = apiServerName(ordinal);
    await ensureCertificate(
      pki,
      `${commonName}-peer`,
      authority,
      {
        commonName,
        hosts: loopbackHosts,
        usages: ['server', 'client'],
        validMs: certificateValidMs,
      },
      systemClock,
    );
  }
}

/** Creates or renews the certificate that API servers present to aggregated ones. */
export async function ensureFrontProxyCertificate(dataDirectory: string): Promise<void> {
  const { pki } = clusterPaths(dataDirectory);
  const authority = await ensureAuthority(
    pki,
    frontProxyAuthority,
    `${dialect().word}-front-proxy-ca`,
    authorityValidMs,
    systemClock,
  );
  await ensureCertificate(
    pki,
    frontProxyClient,
    authority,
    { commonName: frontProxyClient, usages: ['client'], validMs: certificateValidMs },
    systemClock,
  );
}

export async function ensureServiceAccountKey(dataDirectory: string): Promise<void> {
  const path = serviceAccountKey(dataDirectory);
  if (existsSync(path)) return;
  const { privateKey } = await promisify(generateKeyPair)('rsa', { modulusLength: signingKeyBits });
  const pem = privateKey.export({ type: 'pkcs8', format: 'pem' });
  writeFileAtomic(path, pem.toString(), 0o600);
}
