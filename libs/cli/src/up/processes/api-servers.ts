/** The processes of the API servers, with their flags. Each is a replica of the store. */
import { join } from 'node:path';
import {
  apiServerName,
  apiServerOrdinals,
  clientPort,
  clientUrl,
  peerUrl,
} from '../cluster/api-server-addresses.js';
import { clusterPaths, readSettings } from '../cluster/cluster-directory.js';
import {
  frontProxyAuthority,
  frontProxyClient,
  peerAuthority,
  pkiFiles,
  serviceAccountKey,
} from '../credentials/credential-files.js';
import type { ComponentFields, LocalCluster } from './process-spec.js';

/**
 * The value of `--initial-cluster-state`, which only a replica without data reads. If the cluster
 * has been ready before, the replica has lost its data: it joins as a new member after the old one
 * is removed and the new one is added.
 */
function initialState(dataDirectory: string): 'new' | 'join' {
  const settings = readSettings(dataDirectory);
  return settings?.isFounded && settings.replicaCount > 1 ? 'join' : 'new';
}

export function apiServers({ dataDirectory, settings }: LocalCluster): ComponentFields[] {
  const paths = clusterPaths(dataDirectory);
  const serving = pkiFiles(dataDirectory, 'apiserver');
  const client = pkiFiles(dataDirectory, 'apiserver-client');
  const initialCluster = apiServerOrdinals(settings)
    .map((ordinal) => `${apiServerName(ordinal)}=${peerUrl(settings, ordinal)}`)
    .join(',');
  return apiServerOrdinals(settings).map((ordinal): ComponentFields => {
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
        '--enable-admission-plugins=NodeRestriction',
        '--enable-bootstrap-token-auth',
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
        ...aggregationArgs(dataDirectory),
      ],
      probe: { port, path: '/readyz' },
    };
  });
}

/** Service addresses are for processes of nodes, so API servers connect to endpoints. */
function aggregationArgs(dataDirectory: string): string[] {
  const { certificate, key } = pkiFiles(dataDirectory, frontProxyClient);
  return [
    `--proxy-client-cert-file=${certificate}`,
    `--proxy-client-key-file=${key}`,
    `--requestheader-client-ca-file=${pkiFiles(dataDirectory, frontProxyAuthority).certificate}`,
    `--requestheader-allowed-names=${frontProxyClient}`,
    '--requestheader-username-headers=X-Remote-User',
    '--requestheader-group-headers=X-Remote-Group',
    '--requestheader-extra-headers-prefix=X-Remote-Extra-',
    '--enable-aggregator-routing=true',
    '--enable-resource-metrics',
  ];
}
