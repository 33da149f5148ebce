/** What a service and its endpoints ask the proxy to forward. Pure. */
import type { Endpoints, Service } from '@orch/types/core/v1';
import type { Endpoint } from '../balancing/endpoint-picker.js';

export type ForwardedProtocol = 'TCP' | 'UDP';

export interface PortRule {
  /** Name of the port in the service; '' where it has only one. */
  readonly portName: string;
  readonly protocol: ForwardedProtocol;
  readonly clusterIp: string;
  readonly port: number;
  readonly nodePort?: number;
  readonly endpoints: readonly Endpoint[];
  /** Absent without session affinity. */
  readonly affinityTimeoutMs?: number;
}

const defaultAffinitySeconds = 10_800;

/**
 * Empty for services without an address of their own: headless and external ones. Pods of a loopback
 * node listen on the counterpart in 127/8 of their address.
 */
export function portRules(
  service: Service | undefined,
  endpoints: Endpoints | undefined,
  isLoopbackNode: (nodeName: string) => boolean,
): PortRule[] {
  const { spec } = service ?? {};
  if (!spec?.clusterIP || spec.clusterIP === 'None' || spec.type === 'ExternalName') return [];
  const { clusterIP, sessionAffinity, sessionAffinityConfig } = spec;
  const seconds = sessionAffinityConfig?.clientIP?.timeoutSeconds ?? defaultAffinitySeconds;
  const affinity = sessionAffinity === 'ClientIP' ? { affinityTimeoutMs: seconds * 1000 } : {};
  return (spec.ports ?? []).flatMap(
    ({ name = '', protocol = 'TCP', port, nodePort }): PortRule[] => {
      // Other protocols have no sockets here.
      if (!isForwarded(protocol)) return [];
      return [
        {
          portName: name,
          protocol,
          clusterIp: clusterIP,
          port,
          ...(nodePort ? { nodePort } : {}),
          endpoints: readyEndpoints(endpoints, name, protocol, isLoopbackNode),
          ...affinity,
        },
      ];
    },
  );
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
    for (const { name = '', port, protocol: spoken = 'TCP' } of ports) {
      if (name !== portName || spoken !== protocol) continue;
      for (const { ip, nodeName } of addresses) {
        const isLoopback = nodeName !== undefined && isLoopbackNode(nodeName);
        const reached = isLoopback ? ip.replace(/^\d+/, '127') : ip;
        found.set(`${reached} ${port}`, { ip: reached, port });
      }
    }
  }
  return [...found.values()];
}
