/** Where a cluster's certificates, keys and kubeconfigs are, and what holds for all certificates. */
import { join } from 'node:path';
import { clusterPaths } from './cluster-directory.js';

const dayMs = 86_400_000;
export const authorityValidMs = 3650 * dayMs;
export const certificateValidMs = 365 * dayMs;
export const loopbackHosts = ['localhost', '127.0.0.1', '::1'];

/** The authority that API servers believe of each other: it vouches for replicas and nobody else. */
export const peerAuthority = 'peer-ca';

/** Files of a certificate: `apiserver`, `component`, `apiserver-client`, `apiserver-<n>-peer`. */
export function pkiFiles(dataDirectory: string, name: string) {
  const { pki } = clusterPaths(dataDirectory);
  return { certificate: join(pki, `${name}.crt`), key: join(pki, `${name}.key`) };
}

/** Signs the tokens of service accounts, on every API server. */
export function serviceAccountKey(dataDirectory: string): string {
  return join(clusterPaths(dataDirectory).pki, 'service-account.key');
}

/** Where a component's kubeconfig is. */
export function componentKubeconfig(dataDirectory: string, name: string): string {
  return join(clusterPaths(dataDirectory).components, `${name}.kubeconfig`);
}
