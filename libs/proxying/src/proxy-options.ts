/** The flags of the service proxy. Connection, serving and logging flags are the app's. */
import { dialect, Flag } from '@orch/component';
import { IsInt, IsIP, Max, Min } from 'class-validator';

export class ProxyOptions {
  @Flag({
    name: 'cluster-name',
    description: 'keeps network interfaces of several clusters on one machine apart',
    default: () => dialect().word,
    type: 'string',
  })
  clusterName!: string;

  @Flag({
    name: 'node-port-address',
    description: 'address on which node ports are served; 0.0.0.0 means all',
    default: '0.0.0.0',
  })
  @IsIP()
  nodePortAddress!: string;

  @Flag({
    name: 'max-connections-per-port',
    description:
      'connections of one service port; higher lets one service use up the process, lower refuses clients sooner',
    default: 16_384,
  })
  @IsInt()
  @Min(1)
  @Max(1_000_000)
  connectionsPerPortMax!: number;

  @Flag({
    name: 'udp-timeout',
    description:
      'how long an idle UDP flow keeps its endpoint; higher holds sockets longer, lower moves clients in mid-conversation',
    default: '1m',
    type: 'duration',
  })
  @Min(1_000)
  udpIdleTimeoutMs!: number;

  @Flag({
    name: 'teardown-on-stop',
    description: 'remove service addresses when the proxy stops; otherwise the next one finds them',
    default: false,
  })
  teardownOnStop!: boolean;
}
