/**
 * The credentials of a cluster: the authority, certificates, the administrator's token, and a
 * kubeconfig for each client. They are stored for the next start. Certificates are renewed before
 * they expire.
 */
import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import {
  dialect,
  ensureAuthority,
  ensureCertificate,
  type KeyPairPem,
  singleKubeconfig,
  systemClock,
  writeFileAtomic,
  writeKubeconfig,
} from '@orch/component';
import { apiServiceAddress } from '../cluster/address-block.js';
import { apiUrls } from '../cluster/api-server-addresses.js';
import { type ClusterConfig, clusterPaths } from '../cluster/cluster-directory.js';
import { agentClientUser } from './component-bindings.js';
import {
  authorityValidMs,
  certificateValidMs,
  componentKubeconfig,
  loopbackHosts,
} from './credential-files.js';
import {
  ensureFrontProxyCertificate,
  ensurePeerCertificates,
  ensureServiceAccountKey,
} from './replica-credentials.js';

/** A component that is a client of the API server. */
export interface ComponentIdentity {
  /** Name of its certificate and kubeconfig. */
  readonly name: string;
  readonly user: string;
  readonly groups: readonly string[];
}

const adminUser = 'admin';
const adminGroup = 'system:masters';

export interface Credentials {
  readonly adminToken: string;
  readonly authorityPem: string;
}

/** Creates or renews the credentials of the cluster and of the given components. */
export async function ensureCredentials(
  dataDirectory: string,
  settings: ClusterConfig,
  identities: readonly ComponentIdentity[],
): Promise<Credentials> {
  const paths = clusterPaths(dataDirectory);
  const authority = await ensureAuthority(
    paths.pki,
    'ca',
    `${dialect().word}-ca`,
    authorityValidMs,
    systemClock,
  );
  writeFileAtomic(paths.authorityCertificate, authority.certificatePem, 0o644);
  // Generating the key takes as long as all the rest, so it runs concurrently on another thread.
  const keyReady = ensureServiceAccountKey(dataDirectory);
  await ensureServerCertificates(paths.pki, authority, settings);
  await ensurePeerCertificates(dataDirectory, settings);
  await ensureFrontProxyCertificate(dataDirectory);
  const adminToken = ensureAdminToken(paths.adminToken, paths.tokens);
  const servers = apiUrls(settings);
  writeKubeconfig(
    paths.kubeconfig,
    singleKubeconfig({
      clusterName: dialect().word,
      userName: adminUser,
      servers,
      certificateAuthorityPem: authority.certificatePem,
      token: adminToken,
    }),
  );
  for (const identity of identities) {
    await ensureComponentKubeconfig(dataDirectory, authority, identity, servers);
  }
  await keyReady;
  return { adminToken, authorityPem: authority.certificatePem };
}

async function ensureServerCertificates(
  pkiDirectory: string,
  authority: KeyPairPem,
  settings: ClusterConfig,
): Promise<void> {
  const { word } = dialect();
  const serviceNames = [word, `${word}.default`, `${word}.default.svc`];
  await ensureCertificate(
    pkiDirectory,
    'apiserver',
    authority,
    {
      commonName: `${word}-apiserver`,
      hosts: [
        ...loopbackHosts,
        hostname(),
        apiServiceAddress(settings.addresses),
        ...serviceNames,
        `${word}.default.svc.cluster.local`,
      ],
      usages: ['server'],
      validMs: certificateValidMs,
    },
    systemClock,
  );
  await ensureCertificate(
    pkiDirectory,
    'component',
    authority,
    {
      commonName: `${word}-component`,
      hosts: [...loopbackHosts, hostname()],
      usages: ['server'],
      validMs: certificateValidMs,
    },
    systemClock,
  );
  await ensureCertificate(
    pkiDirectory,
    'apiserver-client',
    authority,
    {
      commonName: agentClientUser(),
      usages: ['client'],
      validMs: certificateValidMs,
    },
    systemClock,
  );
}

/** The administrator's token. Creates it, and adds it to the token file of the API servers. */
function ensureAdminToken(tokenPath: string, tokensPath: string): string {
  if (!existsSync(tokenPath)) {
    writeFileAtomic(tokenPath, `${randomBytes(32).toString('base64url')}\n`, 0o600);
  }
  const token = readFileSync(tokenPath, 'utf8').trim();
  const line = `${token},${adminUser},${adminUser}-uid,"${adminGroup}"\n`;
  if (!existsSync(tokensPath)) writeFileAtomic(tokensPath, line, 0o600);
  const known = readFileSync(tokensPath, 'utf8');
  if (!known.includes(line)) writeFileAtomic(tokensPath, `${line}${known}`, 0o600);
  return token;
}

async function ensureComponentKubeconfig(
  dataDirectory: string,
  authority: KeyPairPem,
  identity: ComponentIdentity,
  servers: readonly string[],
): Promise<void> {
  const paths = clusterPaths(dataDirectory);
  const pair = await ensureCertificate(
    paths.pki,
    identity.name,
    authority,
    {
      commonName: identity.user,
      organizations: identity.groups,
      usages: ['client'],
      validMs: certificateValidMs,
    },
    systemClock,
  );
  writeKubeconfig(
    componentKubeconfig(dataDirectory, identity.name),
    singleKubeconfig({
      clusterName: dialect().word,
      userName: identity.user,
      servers,
      certificateAuthorityPem: authority.certificatePem,
      clientCertificatePem: pair.certificatePem,
      clientKeyPem: pair.keyPem,
    }),
  );
}
