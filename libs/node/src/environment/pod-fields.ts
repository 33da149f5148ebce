/** The downward API: field and resource references of a pod to itself. */
import type { Container, Pod, ResourceFieldSelector } from '@orch/types/core/v1';
import { quantityValue, quotient } from './quantity.js';

/** The allocatable resources of the node, which a container without a limit may use. */
export interface NodeAllocatable {
  readonly cpuCores: number;
  readonly memoryBytes: number;
  readonly ephemeralStorageBytes: number;
}

export interface PodAddresses {
  readonly podIp?: string;
  readonly hostIp?: string;
}

/** Returns the init and main containers of a pod. */
export function containersOf(pod: Pod): Container[] {
  return [...(pod.spec?.initContainers ?? []), ...(pod.spec?.containers ?? [])];
}

/** Returns the value at `fieldPath`; undefined if the field is not supported. */
export function podField(pod: Pod, fieldPath: string, addresses: PodAddresses): string | undefined {
  const { metadata = {}, spec = {} } = pod;
  const entry = /^metadata\.(labels|annotations)\['(.*)'\]$/.exec(fieldPath);
  if (entry) return metadata[entry[1] as 'labels' | 'annotations']?.[entry[2]!] ?? '';
  switch (fieldPath) {
    case 'metadata.name':
      return metadata.name ?? '';
    case 'metadata.namespace':
      return metadata.namespace ?? '';
    case 'metadata.uid':
      return metadata.uid ?? '';
    case 'metadata.labels':
      return quotedEntries(metadata.labels);
    case 'metadata.annotations':
      return quotedEntries(metadata.annotations);
    case 'spec.nodeName':
      return spec.nodeName ?? '';
    case 'spec.serviceAccountName':
      return spec.serviceAccountName ?? '';
    case 'status.podIP':
    case 'status.podIPs':
      return addresses.podIp ?? '';
    case 'status.hostIP':
      return addresses.hostIp ?? '';
    default:
      return undefined;
  }
}

/** Formats one `key="value"` per line, sorted by key. */
function quotedEntries(entries: Readonly<Record<string, string>> | undefined): string {
  return Object.entries(entries ?? {})
    .sort(([left], [right]) => (left < right ? -1 : 1))
    .map(([key, value]) => `${key}=${JSON.stringify(value)}`)
    .join('\n');
}

/**
 * Returns `limits.cpu` etc. in units of the divisor, rounded up; undefined for an unknown resource.
 */
export function resourceField(
  container: Container,
  selector: Pick<ResourceFieldSelector, 'resource' | 'divisor'>,
  allocatable: NodeAllocatable,
): string | undefined {
  const [kind, name] = selector.resource.split(/\.(.*)/s);
  if ((kind !== 'limits' && kind !== 'requests') || name === undefined) return undefined;
  const set = container.resources?.[kind]?.[name];
  const whole: Record<string, number> = {
    cpu: allocatable.cpuCores,
    memory: allocatable.memoryBytes,
    'ephemeral-storage': allocatable.ephemeralStorageBytes,
  };
  if (set === undefined && whole[name] === undefined && !name.startsWith('hugepages-')) {
    return undefined;
  }
  const unset = kind === 'limits' ? (whole[name] ?? 0) : 0;
  const value = set === undefined ? unset : quantityValue(set);
  const divisor = selector.divisor ? quantityValue(selector.divisor) : 0;
  return String(quotient(value, divisor || 1));
}
