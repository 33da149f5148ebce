/** Flags of the API server. */
import { CommonOptions, Flag, Flags, ProfilingOptions, TlsFlags } from '@orch/component';
import { IsInt, IsNotEmpty, Matches, Max, Min } from 'class-validator';
import { AdmissionOptions } from './admission-options.js';
import { AggregationOptions } from './aggregation-options.js';
import { AuditOptions } from './audit-options.js';
import { AuthenticationOptions } from './authentication-options.js';
import { AuthorizationOptions } from './authorization-options.js';
import { ConnectionOptions } from './connection-options.js';
import { ConsensusOptions } from './consensus-options.js';
import { EncryptionOptions } from './encryption-options.js';
import { EtcdOptions } from './etcd-options.js';
import { OidcFlags } from './oidc-options.js';

export class ApiServerOptions {
  @Flags(CommonOptions)
  readonly common!: CommonOptions;

  @Flags(ConsensusOptions)
  readonly consensus!: ConsensusOptions;

  @Flags(EtcdOptions)
  readonly etcd!: EtcdOptions;

  @Flags(AuthenticationOptions)
  readonly authentication!: AuthenticationOptions;

  @Flags(AuthorizationOptions)
  readonly authorization!: AuthorizationOptions;

  @Flags(OidcFlags)
  readonly oidc!: OidcFlags;

  @Flags(AdmissionOptions)
  readonly admission!: AdmissionOptions;

  @Flags(EncryptionOptions)
  readonly encryption!: EncryptionOptions;

  @Flags(ConnectionOptions)
  readonly connections!: ConnectionOptions;

  @Flags(AggregationOptions)
  readonly aggregation!: AggregationOptions;

  @Flags(AuditOptions)
  readonly audit!: AuditOptions;

  @Flag({
    name: 'data-dir',
    description:
      'directory of the store and of generated keys and certificates, used by this server only',
    type: 'string',
  })
  @IsNotEmpty()
  dataDir!: string;

  @Flag({
    name: 'bind-address',
    description: 'address to listen on; 0.0.0.0 and :: are all addresses',
    default: '0.0.0.0',
  })
  bindAddress!: string;

  @Flag({
    name: 'secure-port',
    description: 'HTTPS port; 0 selects a free port and logs it',
    default: 6443,
  })
  @IsInt()
  @Min(0)
  @Max(65_535)
  securePort!: number;

  @Flag({
    name: 'advertise-address',
    description:
      'address at which pods and nodes reach this server; empty: the bind address or the first address of this machine',
    default: '',
  })
  advertiseAddress!: string;

  @Flag({
    name: 'runtime-config',
    description:
      'versions and resources to enable or disable, as batch/v1=false,api/alpha=false; api/all, api/ga, api/beta and api/alpha select many versions, and the more specific key wins. Requests for a disabled resource get 404; its objects stay stored',
    type: 'list',
  })
  runtimeConfig: string[] = [];

  @Flag({
    name: 'tls-cert-file',
    description:
      'PEM serving certificate, reloaded when the file changes; empty: a self-signed certificate in the data directory',
    default: '',
  })
  tlsCertFile!: string;

  @Flag({ name: 'tls-private-key-file', description: 'PEM key of --tls-cert-file', default: '' })
  tlsPrivateKeyFile!: string;

  @Flags(TlsFlags)
  readonly tls!: TlsFlags;

  @Flag({
    name: 'service-cluster-ip-range',
    description: 'CIDR of service addresses, or two CIDRs of different families, comma-separated',
    default: '10.96.0.0/16',
    type: 'list',
  })
  serviceClusterIpRange!: string[];

  @Flag({
    name: 'service-node-port-range',
    description: 'range of node ports of services, as from-to',
    default: '30000-32767',
  })
  @Matches(/^\d+-\d+$/, { message: 'must be two ports with a dash between' })
  serviceNodePortRange!: string;

  @Flag({
    name: 'kubelet-client-certificate',
    description: 'PEM client certificate for node agents',
    default: '',
  })
  nodeAgentCertificate!: string;

  @Flag({
    name: 'kubelet-client-key',
    description: 'PEM key of --kubelet-client-certificate',
    default: '',
  })
  nodeAgentKey!: string;

  @Flag({
    name: 'kubelet-certificate-authority',
    description: 'PEM authority of node agents; empty: their certificates are not verified',
    default: '',
  })
  nodeAgentAuthority!: string;

  @Flag({
    name: 'kubelet-preferred-address-types',
    description: 'types of node addresses for connections to node agents, most preferred first',
    default: 'Hostname,InternalDNS,InternalIP,ExternalDNS,ExternalIP',
    type: 'list',
  })
  nodeAgentAddressTypes!: string[];

  @Flag({
    name: 'egress-selector-config-file',
    description:
      'file with the proxies for connections to the cluster and to the control plane; empty: all connections are direct',
    default: '',
  })
  egressSelectorConfigFile!: string;

  @Flag({
    name: 'request-timeout',
    description:
      'time limit of a request except watches and logs; a request may wait for a quarter of it in a queue. Higher: stuck requests occupy a seat longer. Lower: long lists and slow quorums fail.',
    default: '1m0s',
    type: 'duration',
  })
  @Min(1)
  requestTimeoutMs!: number;

  @Flag({
    name: 'max-requests-inflight',
    description:
      'read requests in flight; with priority and fairness the priority levels share the sum of this and --max-mutating-requests-inflight, without it further requests get 429 and 0 is no limit. Higher: more memory and latency under load. Lower: requests are queued and rejected earlier.',
    default: 400,
  })
  @IsInt()
  @Min(0)
  maxRequestsInflight!: number;

  @Flag({
    name: 'max-mutating-requests-inflight',
    description:
      'write requests in flight; with priority and fairness the priority levels share the sum of this and --max-requests-inflight, without it further requests get 429 and 0 is no limit. Higher: more write latency under load. Lower: requests are queued and rejected earlier.',
    default: 200,
  })
  @IsInt()
  @Min(0)
  maxMutatingRequestsInflight!: number;

  @Flag({
    name: 'enable-priority-and-fairness',
    description:
      'divide the requests in flight among priority levels and queue the rest fairly, if the gate APIPriorityAndFairness is on; off: all clients share the two limits above, and one busy client can starve the others',
    default: true,
  })
  enablePriorityAndFairness!: boolean;

  @Flag({
    name: 'history-retention',
    description:
      'time for which changes are retained for resumed watches, exact lists and continue tokens. Higher: more memory and disk. Lower: disconnected clients must list again.',
    default: '5m0s',
    type: 'duration',
  })
  @Min(1_000)
  @Max(7_200_000)
  historyRetentionMs!: number;

  @Flags(ProfilingOptions)
  profiles!: ProfilingOptions;

  @Flag({
    name: 'strict-transport-security-directives',
    description:
      'directives of the header Strict-Transport-Security, as max-age=31536000,includeSubDomains,preload; empty: no such header. Browsers then refuse plain HTTP for all ports of the host name',
    type: 'list',
  })
  @Matches(/^(max-age=\d+|includeSubDomains|preload)$/, {
    each: true,
    message: 'must be some of max-age=<seconds>, includeSubDomains, preload',
  })
  strictTransportSecurity: string[] = [];

  @Flag({
    name: 'livez-grace-period',
    description:
      'time from the start during which /livez ignores unfinished steps of the start. Higher: a server that hangs at its start is restarted later. Lower: a slow start is interrupted by a restart.',
    default: '0s',
    type: 'duration',
  })
  @Min(0)
  livezGraceMs!: number;

  @Flag({
    name: 'shutdown-delay-duration',
    description:
      'time between the readiness failure and the end of service, for load balancers. Higher: slower restarts. Lower: late requests fail.',
    default: '0s',
    type: 'duration',
  })
  @Min(0)
  shutdownDelayMs!: number;
}
