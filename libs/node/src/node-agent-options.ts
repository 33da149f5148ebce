/** The flags of the node agent. Each one has an effect; connection and logging flags are the app's. */
import { dialect, Flag, type TlsVersionName, tlsVersionNames } from '@orch/component';
import { IsIn, IsInt, IsOptional, Max, Min, MinLength } from 'class-validator';
import { type IsolationSetting, isolationSettings } from './runtimes/process/isolation.js';

const authorizationModes = ['AlwaysAllow', 'Webhook'] as const;
export type AuthorizationMode = (typeof authorizationModes)[number];

export class NodeAgentOptions {
  @Flag({
    name: 'node-name',
    description: 'name of the node instead of the host name; changing it makes another node',
    aliases: ['hostname-override'],
  })
  nodeName?: string;

  @Flag({
    name: 'root-dir',
    description: 'directory of pods, logs and containers; must be kept across restarts',
    default: () => `/var/lib/${dialect().systemName('node')}`,
    type: 'string',
  })
  @MinLength(1)
  rootDirectory!: string;

  @Flag({
    name: 'cluster-name',
    description: 'keeps network interfaces of several clusters on one machine apart',
    default: () => dialect().word,
    type: 'string',
  })
  clusterName!: string;

  @Flag({
    name: 'pod-cidr',
    description:
      'IPv4 network of this node, /16 to /28, its own on the machine and in the cluster; larger holds more pods, smaller leaves room for more nodes',
    default: '10.244.0.0/24',
  })
  podCidr!: string;

  @Flag({
    name: 'process-isolation',
    description:
      'isolated: namespaces and an address for each pod, needs root; plain: process groups and loopback addresses; auto: isolated where the host permits it',
    default: 'auto',
    type: 'string',
  })
  @IsIn(isolationSettings)
  processIsolation!: IsolationSetting;

  @Flag({
    name: 'teardown-on-stop',
    description: 'end all pods and remove their network when the agent stops; otherwise they go on',
    default: false,
  })
  teardownOnStop!: boolean;

  @Flag({
    name: 'node-ip',
    description:
      'address under which the node is reached; by default that of --address, or the first of the machine',
  })
  nodeIp?: string;

  @Flag({
    name: 'node-labels',
    description: 'labels the node is registered with, as key=value pairs',
    type: 'keyValues',
  })
  nodeLabels: Record<string, string> = {};

  @Flag({
    name: 'max-pods',
    description:
      'pods the node takes; higher overloads the machine, lower leaves it idle and pods unscheduled',
    default: 110,
  })
  @IsInt()
  @Min(0)
  @Max(1_000)
  maxPods!: number;

  @Flag({
    name: 'system-reserved',
    description:
      'cpu and memory kept back from pods, as cpu=500m,memory=1Gi; more wastes them, less lets pods starve the machine',
    type: 'keyValues',
  })
  systemReserved: Record<string, string> = {};

  @Flag({
    name: 'node-status-update-frequency',
    description:
      'how often the status is worked out; higher shows changes late, lower costs requests',
    default: '10s',
    type: 'duration',
  })
  @Min(1_000)
  nodeStatusUpdateFrequencyMs!: number;

  @Flag({
    name: 'node-lease-duration-seconds',
    description:
      'validity of the heartbeat, renewed four times within; higher notices a dead node late, lower takes a slow one for dead',
    default: 40,
  })
  @IsInt()
  @Min(4)
  nodeLeaseDurationSeconds!: number;

  @Flag({
    name: 'container-log-max-size',
    description:
      'size at which a container log is moved aside; higher fills the disk, lower forgets sooner',
    default: '10Mi',
    type: 'bytes',
  })
  @Min(4_096)
  containerLogMaxBytes!: number;

  @Flag({
    name: 'container-log-max-files',
    description: 'log files kept of a container, at least 2; higher fills the disk, lower forgets',
    default: 5,
  })
  @IsInt()
  @Min(2)
  containerLogMaxFiles!: number;

  @Flag({
    name: 'eviction-hard',
    description:
      'what must be left of the machine before the node reports pressure; higher gives room away, lower risks running out',
    default:
      'imagefs.available<15%,memory.available<100Mi,nodefs.available<10%,nodefs.inodesFree<5%',
  })
  evictionHard!: string[];

  @Flag({
    name: 'eviction-pressure-transition-period',
    description:
      'how long pressure is reported after it has gone; higher keeps pods away longer, lower lets the condition flap',
    default: '5m',
    type: 'duration',
  })
  @Min(0)
  evictionPressureTransitionMs!: number;

  @Flag({ name: 'enable-server', description: 'serve logs, stats and metrics', default: true })
  enableServer!: boolean;

  @Flag({ name: 'address', description: 'address the server listens on', default: '0.0.0.0' })
  address!: string;

  @Flag({ name: 'port', description: 'HTTPS port of the server; 0 takes any', default: 10_250 })
  @IsInt()
  @Min(0)
  @Max(65_535)
  port!: number;

  @Flag({
    name: 'enable-debugging-handlers',
    description:
      'serve logs, commands and ports of containers, without which nobody has them through the API',
    default: true,
  })
  enableDebuggingHandlers!: boolean;

  @Flag({
    name: 'streaming-connection-idle-timeout',
    description:
      'a command or forwarded connection without a byte is ended after it, 0 never; lower ends quiet ones, higher keeps forgotten ones',
    default: '4h0m0s',
    type: 'duration',
  })
  @Min(0)
  streamingIdleTimeoutMs!: number;

  @Flag({ name: 'tls-cert-file', description: 'PEM certificate to serve with; made when left out' })
  @IsOptional()
  tlsCertFile?: string;

  @Flag({ name: 'tls-private-key-file', description: 'PEM key of --tls-cert-file' })
  @IsOptional()
  tlsPrivateKeyFile?: string;

  @Flag({
    name: 'tls-min-version',
    description: `lowest TLS version, one of ${tlsVersionNames.join(', ')}; lower admits weak clients, higher shuts some out`,
    default: 'VersionTLS12',
    type: 'string',
  })
  @IsIn(tlsVersionNames)
  tlsMinVersion!: TlsVersionName;

  @Flag({
    name: 'client-ca-file',
    description: 'PEM authorities whose client certificates prove a user',
  })
  @IsOptional()
  clientCaFile?: string;

  @Flag({
    name: 'anonymous-auth',
    description: 'let requests without credentials in, as the anonymous user',
    default: true,
  })
  anonymousAuth!: boolean;

  @Flag({
    name: 'authentication-token-webhook',
    description: 'ask the API server who a bearer token belongs to',
    default: false,
  })
  tokenWebhook!: boolean;

  @Flag({
    name: 'authentication-token-webhook-cache-ttl',
    description: 'how long a checked token is trusted; higher: a revoked one works longer',
    default: '2m0s',
    type: 'duration',
  })
  @Min(0)
  tokenCacheTtlMs!: number;

  @Flag({
    name: 'authorization-mode',
    description: 'AlwaysAllow, or Webhook: ask the API server about each request',
    default: 'AlwaysAllow',
    type: 'string',
  })
  @IsIn(authorizationModes)
  authorizationMode!: AuthorizationMode;

  @Flag({
    name: 'authorization-webhook-cache-authorized-ttl',
    description: 'how long a permission is remembered; higher: a withdrawn one works longer',
    default: '5m0s',
    type: 'duration',
  })
  @Min(0)
  authorizedCacheTtlMs!: number;

  @Flag({
    name: 'authorization-webhook-cache-unauthorized-ttl',
    description: 'how long a refusal is remembered; higher: a new permission works later',
    default: '30s',
    type: 'duration',
  })
  @Min(0)
  unauthorizedCacheTtlMs!: number;
}
