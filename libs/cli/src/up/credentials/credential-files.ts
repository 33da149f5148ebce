/**
 * The paths of the certificates, keys and kubeconfigs of a cluster, and the validity of
 * certificates.
 */
import { join } from 'node:path';
import { clusterPaths } from '../cluster/cluster-directory.js';

const dayMs = 86_400_000;
export const authorityValidMs = 3650 * dayMs;
export const certificateValidMs = 365 * dayMs;
export const loopbackHosts = ['localhost', '127.0.0.1', '::1'];

/** The authority for the peer certificates of API servers. It signs no other certificates. */
export const peerAuthority = 'peer-ca';

/**
 * The authority for the certificate that API servers present to aggregated ones. It signs no other
 * certificates, because its holders may name any user in headers.
 */
export const frontProxyAuthority = 'front-proxy-ca';
/** The common name of that certificate. */
export const frontProxyClient = 'front-proxy-client';

/**
 * The files of a certificate: `apiserver`, `component`, `apiserver-client`, `apiserver-<n>-peer`,
 * `front-proxy-client`.
 */
export function pkiFiles(dataDirectory: string, name: string) {
  const { pki } = clusterPaths(dataDirectory);
  return { certificate: join(pki, `${name}.crt`), key: join(pki, `${name}.key`) };
}

/** The key with which every API server signs service account tokens. */
export function serviceAccountKey(dataDirectory: string): string {
  return join(clusterPaths(dataDirectory).pki, 'service-account.key');
}

/** The kubeconfig of a component. */
export function componentKubeconfig(dataDirectory: string, name: string): string {
  return join(clusterPaths(dataDirectory).components, `${name}.kubeconfig`);
}
