/** The flags of the service proxy. The app adds the flags for connections, serving and logging. */
import { dialect, Flag, ValueError } from '@orch/component';
import { IsInt, IsIP, Max, Min } from 'class-validator';
import ipaddr from 'ipaddr.js';

export class ProxyOptions {
  @Flag({
    name: 'cluster-name',
    description: 'name that separates the network interfaces of several clusters on one machine',
    default: () => dialect().word,
    type: 'string',
  })
  clusterName!: string;

  @Flag({
    name: 'node-port-address',
    description: 'address on which node ports are served; 0.0.0.0 is every address',
    default: '0.0.0.0',
  })
  @IsIP()
  nodePortAddress!: string;

  @Flag({
    name: 'pod-route-range',
    description:
      'IPv4 CIDR of the pods of all nodes. The proxy adds a route to the part of each other machine, through the internal address of its node; it requires root and machines in one network. Empty: no routes',
    default: '',
  })
  podRouteRange!: string;

  @Flag({
    name: 'announced-routes-only',
    description:
      'with --pod-route-range, add routes only to ranges that the route controller with the same --cluster-name has announced; otherwise to all ranges of nodes',
    default: false,
  })
  announcedRoutesOnly!: boolean;

  @Flag({
    name: 'max-connections-per-port',
    description:
      'concurrent connections of one service port. Higher: one service can exhaust the process. Lower: clients are rejected earlier.',
    default: 16_384,
  })
  @IsInt()
  @Min(1)
  @Max(1_000_000)
  connectionsPerPortMax!: number;

  @Flag({
    name: 'udp-timeout',
    description:
      'idle time after which a UDP flow loses its endpoint. Higher: sockets are held longer. Lower: clients may change the endpoint within a session.',
    default: '1m',
    type: 'duration',
  })
  @Min(1_000)
  udpIdleTimeoutMs!: number;

  @Flag({
    name: 'teardown-on-stop',
    description:
      'remove service addresses when the proxy stops; otherwise the next proxy process reuses them',
    default: false,
  })
  teardownOnStop!: boolean;

  checkRelations(): void {
    const range = this.podRouteRange;
    if (range === '' && this.announcedRoutesOnly) {
      throw new ValueError('--announced-routes-only requires --pod-route-range');
    }
    if (range !== '' && !ipaddr.IPv4.isValidCIDRFourPartDecimal(range)) {
      throw new ValueError(`--pod-route-range: want an IPv4 CIDR, got ${range}`);
    }
  }
}
