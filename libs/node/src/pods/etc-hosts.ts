/** The hosts file of a pod: its own address and its host aliases. Pure. */
import type { Pod } from '@orch/types/core/v1';

export function etcHosts(pod: Pod, hostname: string, podIp: string): string {
  const { subdomain, hostAliases = [] } = pod.spec ?? {};
  const lines = [
    '# Managed by the node agent.',
    '127.0.0.1\tlocalhost',
    '::1\tlocalhost ip6-localhost ip6-loopback',
  ];
  const names = subdomain
    ? `${hostname}.${subdomain}.${pod.metadata?.namespace}.svc\t${hostname}`
    : hostname;
  lines.push(`${podIp}\t${names}`);
  for (const { ip, hostnames = [] } of hostAliases) {
    if (ip) lines.push(`${ip}\t${hostnames.join('\t')}`);
  }
  return `${lines.join('\n')}\n`;
}

/** Returns the host name of a pod, truncated to the 63 characters of a DNS label. */
export function podHostname(pod: Pod): string {
  return (pod.spec?.hostname || pod.metadata?.name || '').slice(0, 63).replace(/[-.]+$/, '');
}
