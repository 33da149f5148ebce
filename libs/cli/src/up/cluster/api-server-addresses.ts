/** The names, ports and URLs of the API servers of a cluster. */
import type { ClusterConfig } from './cluster-directory.js';

export function apiServerOrdinals({ replicaCount }: ClusterConfig): number[] {
  return Array.from({ length: replicaCount }, (_, offset) => offset + 1);
}

/** The name of a server's member, log and data directory. */
export function apiServerName(ordinal: number): string {
  return `apiserver-${ordinal}`;
}

/** The client URL of each API server. The user chooses the port of the first. */
export function apiUrls(settings: ClusterConfig): string[] {
  return apiServerOrdinals(settings).map((ordinal) => clientUrl(settings, ordinal));
}

export function clientPort({ port, addresses }: ClusterConfig, ordinal: number): number {
  return ordinal === 1 ? port : addresses.ports.apiServers + ordinal - 2;
}

export function clientUrl(settings: ClusterConfig, ordinal: number): string {
  return `https://127.0.0.1:${clientPort(settings, ordinal)}`;
}

export function peerUrl({ addresses }: ClusterConfig, ordinal: number): string {
  return `https://127.0.0.1:${addresses.ports.peers + ordinal - 1}`;
}
