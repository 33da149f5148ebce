/** Computes the forwarding rules of a service from its specification and its endpoints. Pure. */
import { isIPv4 } from 'node:net';
import { dialect } from '@orch/component';
import type { Endpoints, Service, ServicePort } from '@orch/types/core/v1';
import type { Endpoint } from '../balancing/endpoint-picker.js';

export type ForwardedProtocol = 'TCP' | 'UDP';

export interface PortRule {
  /** The name of the service port; empty if the service has only one. */
  readonly portName: string;
  readonly protocol: ForwardedProtocol;
  /** The address of the service, or one of its load balancer. */
  readonly address: string;
  readonly port: number;
  readonly nodePort?: number;
  /** CIDRs of the clients that may connect; absent: all. */
  readonly sourceRanges?: readonly string[];
  readonly endpoints: readonly Endpoint[];
  /** Absent without session affinity. */
  readonly affinityTimeoutMs?: number;
}

const defaultAffinitySeconds = 10_800;

/**
 * Returns the rules of a service: one for each port of its address and of each address of its load
 * balancer; none for services without an address (headless and external). Pods of a loopback node
 * listen on the counterpart of their address in 127/8.
 */
export function portRules(
  service: Service | undefined,
  endpoints: Endpoints | undefined,
  isLoopbackNode: (nodeName: string) => boolean,
): PortRule[] {
  const { spec } = service ?? {};
  if (!spec?.clusterIP || spec.clusterIP === 'None' || spec.type === 'ExternalName') return [];
  const { clusterIP } = spec;
  const affinity = affinityOf(service);
  const sources = sourceRangesOf(service);
  return (spec.ports ?? []).flatMap((servicePort): PortRule[] => {
    const { name = '', protocol = 'TCP', port, nodePort } = servicePort;
    // Other protocols are not supported.
    if (!isForwarded(protocol)) return [];
    const common = {
      portName: name,
      protocol,
      port,
      endpoints: readyEndpoints(endpoints, name, protocol, isLoopbackNode),
      ...affinity,
    };
    return [
      { ...common, address: clusterIP, ...(nodePort ? { nodePort } : {}) },
      ...balancerAddresses(service, servicePort).map((address) => ({
        ...common,
        address,
        ...(sources.length > 0 ? { sourceRanges: sources } : {}),
      })),
    ];
  });
}

function affinityOf(service: Service | undefined): Pick<PortRule, 'affinityTimeoutMs'> {
  const { sessionAffinity, sessionAffinityConfig } = service?.spec ?? {};
  if (sessionAffinity !== 'ClientIP') return {};
  const seconds = sessionAffinityConfig?.clientIP?.timeoutSeconds ?? defaultAffinitySeconds;
  return { affinityTimeoutMs: seconds * 1000 };
}

/** The IPv4 addresses of the load balancer; the proxy assigns no others to its interface. */
function balancerAddresses(service: Service | undefined, { port }: ServicePort): string[] {
  if (service?.spec?.type !== 'LoadBalancer') return [];
  const served = service.status?.loadBalancer?.ingress ?? [];
  return served.flatMap(({ ip, ports }) => {
    const isFailed = ports?.some((status) => status.port === port && status.error);
    return ip && isIPv4(ip) && !isFailed ? [ip] : [];
  });
}

/** The CIDRs of the specification, otherwise those of the annotation. */
function sourceRangesOf(service: Service | undefined): readonly string[] {
  const listed = service?.spec?.loadBalancerSourceRanges ?? [];
  if (listed.length > 0) return listed;
  const key = dialect().key('load-balancer-source-ranges', 'service.beta');
  const text = service?.metadata?.annotations?.[key]?.trim() ?? '';
  return text === '' ? [] : text.split(',').map((range) => range.trim());
}

function isForwarded(protocol: string): protocol is ForwardedProtocol {
  return protocol === 'TCP' || protocol === 'UDP';
}

function readyEndpoints(
  endpoints: Endpoints | undefined,
  portName: string,
  protocol: ForwardedProtocol,
  isLoopbackNode: (nodeName: string) => boolean,
): Endpoint[] {
  const found = new Map<string, Endpoint>();
  for (const { addresses = [], ports = [] } of endpoints?.subsets ?? []) {
    for (const { name = '', port, protocol: endpointProtocol = 'TCP' } of ports) {
      if (name !== portName || endpointProtocol !== protocol) continue;
      for (const { ip, nodeName } of addresses) {
        const isLoopback = nodeName !== undefined && isLoopbackNode(nodeName);
        const localIp = isLoopback ? ip.replace(/^\d+/, '127') : ip;
        found.set(`${localIp} ${port}`, { ip: localIp, port });
      }
    }
  }
  return [...found.values()];
}
