/** The API servers of a cluster: their names, addresses and flags. Each is a replica of the store. */
import { join } from 'node:path';
import { type ClusterSettings, clusterPaths, readSettings } from './cluster-directory.js';
import type { OwnSpec, Place } from './components.js';
import { peerAuthority, pkiFiles, serviceAccountKey } from './credential-files.js';

export function apiServerOrdinals({ replicaCount }: ClusterSettings): number[] {
  return Array.from({ length: replicaCount }, (_, offset) => offset + 1);
}

/** Of its member, its log and its data directory. */
export function apiServerName(ordinal: number): string {
  return `apiserver-${ordinal}`;
}

/** Where clients reach each of them; the first is the one the user has chosen. */
export function apiUrls(settings: ClusterSettings): string[] {
  return apiServerOrdinals(settings).map((ordinal) => clientUrl(settings, ordinal));
}

function clientPort({ port, addresses }: ClusterSettings, ordinal: number): number {
  return ordinal === 1 ? port : addresses.ports.apiServers + ordinal - 2;
}

function clientUrl(settings: ClusterSettings, ordinal: number): string {
  return `https://127.0.0.1:${clientPort(settings, ordinal)}`;
}

function peerUrl({ addresses }: ClusterSettings, ordinal: number): string {
  return `https://127.0.0.1:${addresses.ports.peers + ordinal - 1}`;
}

/**
 * Asked only by a replica without data. In a cluster that has been founded it has lost them, and comes in
 * again as a new member, once the old one has been removed and it has been added.
 */
function initialState(dataDirectory: string): 'new' | 'join' {
  const settings = readSettings(dataDirectory);
  return settings?.isFounded && settings.replicaCount > 1 ? 'join' : 'new';
}

export function apiServers({ dataDirectory, settings }: Place): OwnSpec[] {
  const paths = clusterPaths(dataDirectory);
  const serving = pkiFiles(dataDirectory, 'apiserver');
  const client = pkiFiles(dataDirectory, 'apiserver-client');
  const initialCluster = apiServerOrdinals(settings)
    .map((ordinal) => `${apiServerName(ordinal)}=${peerUrl(settings, ordinal)}`)
    .join(',');
  return apiServerOrdinals(settings).map((ordinal): OwnSpec => {
    const name = apiServerName(ordinal);
    const port = clientPort(settings, ordinal);
    const peer = pkiFiles(dataDirectory, `${name}-peer`);
    return {
      component: 'apiserver',
      name,
      startArgs: () => [`--initial-cluster-state=${initialState(dataDirectory)}`],
      args: [
        `--data-dir=${join(dataDirectory, name)}`,
        `--secure-port=${port}`,
        '--bind-address=127.0.0.1',
        `--advertise-client-url=${clientUrl(settings, ordinal)}`,
        `--member-name=${name}`,
        `--initial-cluster=${initialCluster}`,
        `--initial-cluster-token=${settings.clusterToken}`,
        `--listen-peer-url=${peerUrl(settings, ordinal)}`,
        `--peer-cert-file=${peer.certificate}`,
        `--peer-key-file=${peer.key}`,
        `--peer-trusted-ca-file=${pkiFiles(dataDirectory, peerAuthority).certificate}`,
        `--service-account-signing-key-file=${serviceAccountKey(dataDirectory)}`,
        `--token-auth-file=${paths.tokens}`,
        `--client-ca-file=${paths.authorityCertificate}`,
        `--tls-cert-file=${serving.certificate}`,
        `--tls-private-key-file=${serving.key}`,
        `--service-cluster-ip-range=${settings.addresses.serviceCidr}`,
        `--service-node-port-range=${settings.addresses.nodePortRange}`,
        `--kubelet-certificate-authority=${paths.authorityCertificate}`,
        `--kubelet-client-certificate=${client.certificate}`,
        `--kubelet-client-key=${client.key}`,
        '--kubelet-preferred-address-types=InternalIP',
      ],
      probe: { port, path: '/readyz' },
    };
  });
}
