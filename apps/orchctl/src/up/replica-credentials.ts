/**
 * What the API servers of a cluster have as its replicas: certificates for each other, from an authority
 * apart from that of clients, and the one key with which all of them sign service account tokens.
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
import { apiServerName, apiServerOrdinals } from './api-servers.js';
import { type ClusterSettings, clusterPaths } from './cluster-directory.js';
import {
  authorityValidMs,
  certificateValidMs,
  loopbackHosts,
  peerAuthority,
  serviceAccountKey,
} from './credential-files.js';

const signingKeyBits = 2048;

/** The common name of a replica's certificate is the name of the member. */
export async function ensurePeerCertificates(
  dataDirectory: string,
  settings: ClusterSettings,
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

export async function ensureServiceAccountKey(dataDirectory: string): Promise<void> {
  const path = serviceAccountKey(dataDirectory);
  if (existsSync(path)) return;
  const { privateKey } = await promisify(generateKeyPair)('rsa', { modulusLength: signingKeyBits });
  const pem = privateKey.export({ type: 'pkcs8', format: 'pem' });
  writeFileAtomic(path, pem.toString(), 0o600);
}
