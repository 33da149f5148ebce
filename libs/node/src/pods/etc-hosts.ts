/** The hosts file of a pod: itself and the aliases of its specification. Pure. */
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

/** At most 63 characters, the longest a host name's part may be. */
export function podHostname(pod: Pod): string {
  return (pod.spec?.hostname || pod.metadata?.name || '').slice(0, 63).replace(/[-.]+$/, '');
}
