/** The flags of the node agent. The app adds the flags for connections and logging. */
import { hostname } from 'node:os';
import { dialect, Flag, Flags, ProfilingOptions, TlsFlags } from '@orch/component';
import { IsIn, IsInt, IsOptional, Max, Min, MinLength } from 'class-validator';
import { type IsolationSetting, isolationSettings } from './runtimes/process/isolation.js';

const authorizationModes = ['AlwaysAllow', 'Webhook'] as const;
export type AuthorizationMode = (typeof authorizationModes)[number];

export class NodeAgentOptions {
  @Flag({
    name: 'node-name',
    description: 'name of the node, by default the host name; another name registers another node',
    aliases: ['hostname-override'],
  })
  nodeName?: string;

  @Flag({
    name: 'root-dir',
    description: 'directory of pods, logs and containers; must be preserved across restarts',
    default: () => `/var/lib/${dialect().systemName('node')}`,
    type: 'string',
  })
  @MinLength(1)
  rootDirectory!: string;

  @Flag({
    name: 'cluster-name',
    description: 'name that separates the network interfaces of several clusters on one machine',
    default: () => dialect().word,
    type: 'string',
  })
  clusterName!: string;

  @Flag({
    name: 'pod-cidr',
    description:
      'IPv4 network of the pods of this node, unique on the machine and in the cluster, with prefix /16 to /28; empty: wait for the range that the controller manager assigns (--allocate-node-cidrs). Higher prefix: room for more nodes. Lower prefix: room for more pods.',
    default: '10.244.0.0/24',
  })
  podCidr!: string;

  @Flag({
    name: 'process-isolation',
    description:
      'isolation of pods. isolated: namespaces and an address per pod, requires root; plain: process groups and loopback addresses; auto: isolated if the host permits it',
    default: 'auto',
    type: 'string',
  })
  @IsIn(isolationSettings)
  processIsolation!: IsolationSetting;

  @Flag({
    name: 'teardown-on-stop',
    description:
      'end all pods and remove their network when the agent stops; otherwise they continue to run',
    default: false,
  })
  teardownOnStop!: boolean;

  @Flag({
    name: 'node-ip',
    description: 'address of the node; by default --address, or the first address of the machine',
  })
  nodeIp?: string;

  @Flag({
    name: 'node-labels',
    description: 'labels of the registered node, as key=value pairs',
    type: 'keyValues',
  })
  nodeLabels: Record<string, string> = {};

  @Flag({
    name: 'max-pods',
    description:
      'pods that the scheduler may place on the node. Higher: the machine may be overloaded. Lower: pods remain unscheduled while the machine is idle.',
    default: 110,
  })
  @IsInt()
  @Min(0)
  @Max(1_000)
  maxPods!: number;

  @Flag({
    name: 'system-reserved',
    description:
      'cpu and memory reserved for the system, as cpu=500m,memory=1Gi. Higher: less capacity for pods. Lower: pods can starve the system.',
    type: 'keyValues',
  })
  systemReserved: Record<string, string> = {};

  @Flag({
    name: 'node-status-update-frequency',
    description:
      'period in which the node status is computed. Higher: changes are reported later. Lower: more requests.',
    default: '10s',
    type: 'duration',
  })
  @Min(1_000)
  nodeStatusUpdateFrequencyMs!: number;

  @Flag({
    name: 'node-lease-duration-seconds',
    description:
      'validity of the node lease in seconds; it is renewed after a quarter of it. Higher: a dead node is detected later. Lower: a slow node may be considered dead.',
    default: 40,
  })
  @IsInt()
  @Min(4)
  nodeLeaseDurationSeconds!: number;

  @Flag({
    name: 'container-log-max-size',
    description:
      'size at which a container log is rotated. Higher: more disk use. Lower: a shorter history.',
    default: '10Mi',
    type: 'bytes',
  })
  @Min(4_096)
  containerLogMaxBytes!: number;

  @Flag({
    name: 'container-log-max-files',
    description:
      'log files that are retained per container, at least 2. Higher: more disk use. Lower: a shorter history.',
    default: 5,
  })
  @IsInt()
  @Min(2)
  containerLogMaxFiles!: number;

  @Flag({
    name: 'eviction-hard',
    description:
      'thresholds of available resources below which the node reports pressure. Higher: unused reserves. Lower: the machine may run out of a resource.',
    default:
      'imagefs.available<15%,memory.available<100Mi,nodefs.available<10%,nodefs.inodesFree<5%',
  })
  evictionHard!: string[];

  @Flag({
    name: 'eviction-pressure-transition-period',
    description:
      'time for which pressure is reported after it has ended. Higher: new pods are rejected longer. Lower: the condition may flap.',
    default: '5m',
    type: 'duration',
  })
  @Min(0)
  evictionPressureTransitionMs!: number;

  @Flag({
    name: 'enable-server',
    description: 'serve logs, statistics and metrics over HTTPS',
    default: true,
  })
  enableServer!: boolean;

  @Flag({ name: 'address', description: 'listen address of the server', default: '0.0.0.0' })
  address!: string;

  @Flag({
    name: 'port',
    description: 'HTTPS port of the server; 0 selects a free port',
    default: 10_250,
  })
  @IsInt()
  @Min(0)
  @Max(65_535)
  port!: number;

  @Flag({
    name: 'enable-debugging-handlers',
    description:
      'serve logs, commands and ports of containers; the API needs them for logs, exec, attach and port-forward',
    default: true,
  })
  enableDebuggingHandlers!: boolean;

  @Flags(ProfilingOptions)
  profiles!: ProfilingOptions;

  @Flag({
    name: 'streaming-connection-idle-timeout',
    description:
      'idle time after which a command or forwarded connection is closed; 0 never. Higher: abandoned connections remain longer. Lower: quiet connections are closed.',
    default: '4h0m0s',
    type: 'duration',
  })
  @Min(0)
  streamingIdleTimeoutMs!: number;

  @Flag({
    name: 'tls-cert-file',
    description: 'PEM file of the serving certificate; a self-signed one is created by default',
  })
  @IsOptional()
  tlsCertFile?: string;

  @Flag({ name: 'tls-private-key-file', description: 'PEM file of the key of --tls-cert-file' })
  @IsOptional()
  tlsPrivateKeyFile?: string;

  @Flags(TlsFlags)
  readonly tls!: TlsFlags;

  @Flag({
    name: 'client-ca-file',
    description: 'PEM file of the authorities whose client certificates are accepted',
  })
  @IsOptional()
  clientCaFile?: string;

  @Flag({
    name: 'anonymous-auth',
    description: 'accept requests without credentials as the anonymous user',
    default: true,
  })
  anonymousAuth!: boolean;

  @Flag({
    name: 'authentication-token-webhook',
    description: 'authenticate bearer tokens by token review at the API server',
    default: false,
  })
  tokenWebhook!: boolean;

  @Flag({
    name: 'authentication-token-webhook-cache-ttl',
    description:
      'time for which the result of a token review is cached. Higher: a revoked token works longer. Lower: more requests to the API server.',
    default: '2m0s',
    type: 'duration',
  })
  @Min(0)
  tokenCacheTtlMs!: number;

  @Flag({
    name: 'authorization-mode',
    description: 'AlwaysAllow, or Webhook: authorize each request at the API server',
    default: 'AlwaysAllow',
    type: 'string',
  })
  @IsIn(authorizationModes)
  authorizationMode!: AuthorizationMode;

  @Flag({
    name: 'authorization-webhook-cache-authorized-ttl',
    description:
      'time for which a permission is cached. Higher: a revoked permission works longer. Lower: more requests to the API server.',
    default: '5m0s',
    type: 'duration',
  })
  @Min(0)
  authorizedCacheTtlMs!: number;

  @Flag({
    name: 'authorization-webhook-cache-unauthorized-ttl',
    description:
      'time for which a denial is cached. Higher: a new permission works later. Lower: more requests to the API server.',
    default: '30s',
    type: 'duration',
  })
  @Min(0)
  unauthorizedCacheTtlMs!: number;
}

/** Returns the name of the node, by default the host name, in lower case like all object names. */
export function nodeNameOf(options: Pick<NodeAgentOptions, 'nodeName'>): string {
  return (options.nodeName || hostname()).trim().toLowerCase();
}
