/** Flags of the API server. */
import { CommonOptions, Flag, Flags, type TlsVersionName, tlsVersionNames } from '@orch/component';
import { IsIn, IsInt, IsNotEmpty, Matches, Max, Min } from 'class-validator';
import { AuditOptions } from './audit-options.js';
import { ConsensusOptions } from './consensus-options.js';
import { EtcdOptions } from './etcd-options.js';

export class ApiServerOptions {
  @Flags(CommonOptions)
  readonly common!: CommonOptions;

  @Flags(ConsensusOptions)
  readonly consensus!: ConsensusOptions;

  @Flags(EtcdOptions)
  readonly etcd!: EtcdOptions;

  @Flags(AuditOptions)
  readonly audit!: AuditOptions;

  @Flag({
    name: 'data-dir',
    description: 'directory of the store and of certificates made here; it belongs to this server',
    type: 'string',
  })
  @IsNotEmpty()
  dataDir!: string;

  @Flag({
    name: 'bind-address',
    description: 'address to listen on; 0.0.0.0 and :: mean all',
    default: '0.0.0.0',
  })
  bindAddress!: string;

  @Flag({
    name: 'secure-port',
    description: 'HTTPS port; 0 takes any free one and logs it',
    default: 6443,
  })
  @IsInt()
  @Min(0)
  @Max(65_535)
  securePort!: number;

  @Flag({
    name: 'advertise-address',
    description:
      'address at which pods and nodes reach this server; without it the bind address or the first one of this machine',
    default: '',
  })
  advertiseAddress!: string;

  @Flag({
    name: 'runtime-config',
    description:
      'versions and resources to serve or not, as batch/v1=false,api/alpha=false; api/all, api/ga, api/beta and api/alpha stand for many, the more particular key wins. Whoever still asks for what is off is told 404; its objects stay stored',
    type: 'list',
  })
  runtimeConfig: string[] = [];

  @Flag({
    name: 'enable-admission-plugins',
    description:
      'admission plugins to run besides those that run by default; their order is fixed. docs/api.md says which there are',
    type: 'list',
  })
  enableAdmissionPlugins: string[] = [];

  @Flag({
    name: 'disable-admission-plugins',
    description:
      'admission plugins not to run though they do by default; without ServiceAccount pods have no identity, without ResourceQuota and LimitRanger a namespace may take everything',
    type: 'list',
  })
  disableAdmissionPlugins: string[] = [];

  @Flag({
    name: 'tls-cert-file',
    description:
      'PEM certificate to serve with, replaced without a restart when the file changes; without it one is made in the data directory',
    default: '',
  })
  tlsCertFile!: string;

  @Flag({ name: 'tls-private-key-file', description: 'PEM key of --tls-cert-file', default: '' })
  tlsPrivateKeyFile!: string;

  @Flag({
    name: 'tls-min-version',
    description: `lowest TLS version, one of ${tlsVersionNames.join(', ')}; lower admits old and weak clients, higher shuts some out`,
    default: 'VersionTLS12',
    type: 'string',
  })
  @IsIn(tlsVersionNames)
  tlsMinVersion!: TlsVersionName;

  @Flag({
    name: 'client-ca-file',
    description:
      'PEM authorities of client certificates: the common name is the user, organizations are groups',
    default: '',
  })
  clientCaFile!: string;

  @Flag({
    name: 'token-auth-file',
    description: 'CSV file of token,user,uid and optional groups; read at start only',
    default: '',
  })
  tokenAuthFile!: string;

  @Flag({
    name: 'service-account-signing-key-file',
    description:
      'PEM private key (RSA or EC) that signs service account tokens; all servers of a cluster need the same; without it one is made in the data directory',
    default: '',
  })
  serviceAccountSigningKeyFile!: string;

  @Flag({
    name: 'service-account-key-file',
    description:
      'PEM keys, private or public, whose service account tokens are believed besides those of the signing key; may be repeated',
    type: 'texts',
  })
  serviceAccountKeyFiles: string[] = [];

  @Flag({
    name: 'service-account-issuer',
    description:
      "URL that names this cluster in its tokens, such as https://id.example; without it that of the API's own service. Changing it ends all tokens",
    default: '',
  })
  @Matches(/^$|^https:\/\/[^\s?#]+$/, { message: 'must be an https URL without query' })
  serviceAccountIssuer!: string;

  @Flag({
    name: 'service-account-jwks-uri',
    description:
      'https URL where others fetch the keys of the issuer; without it that of this server',
    default: '',
  })
  @Matches(/^$|^https:\/\/[^\s]+$/, { message: 'must be an https URL' })
  serviceAccountKeySetUri!: string;

  @Flag({
    name: 'api-audiences',
    description:
      'audiences of tokens for this API, the first ones given to tokens that name none; the issuer when left out',
    type: 'list',
  })
  apiAudiences: string[] = [];

  @Flag({
    name: 'anonymous-auth',
    description: 'let requests without credentials in as system:anonymous, who may see health only',
    default: true,
  })
  anonymousAuth!: boolean;

  @Flag({
    name: 'service-cluster-ip-range',
    description: 'CIDR of service addresses, two of different families with a comma between',
    default: '10.96.0.0/16',
    type: 'list',
  })
  serviceClusterIpRange!: string[];

  @Flag({
    name: 'service-node-port-range',
    description: 'ports of services on every node, as from-to',
    default: '30000-32767',
  })
  @Matches(/^\d+-\d+$/, { message: 'must be two ports with a dash between' })
  serviceNodePortRange!: string;

  @Flag({
    name: 'kubelet-client-certificate',
    description: 'PEM certificate to show to node agents',
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
    description: 'PEM authority of node agents; without it their certificates are not checked',
    default: '',
  })
  nodeAgentAuthority!: string;

  @Flag({
    name: 'kubelet-preferred-address-types',
    description: 'kinds of node addresses to reach node agents by, the most wanted first',
    default: 'Hostname,InternalDNS,InternalIP,ExternalDNS,ExternalIP',
    type: 'list',
  })
  nodeAgentAddressTypes!: string[];

  @Flag({
    name: 'request-timeout',
    description:
      'time for a request that is neither a watch nor a log; a quarter of it a request may wait for its turn; higher: stuck requests hold their place longer, lower: long lists and slow quorums fail',
    default: '1m0s',
    type: 'duration',
  })
  @Min(1)
  requestTimeoutMs!: number;

  @Flag({
    name: 'max-requests-inflight',
    description:
      'reading requests worked on at once; with priority and fairness priority levels share the sum of this and --max-mutating-requests-inflight, without it more get 429 and 0 is no limit; higher: more memory and longer answers under load, lower: waits and refusals earlier',
    default: 400,
  })
  @IsInt()
  @Min(0)
  maxRequestsInflight!: number;

  @Flag({
    name: 'max-mutating-requests-inflight',
    description:
      'writing requests worked on at once; with priority and fairness priority levels share the sum of this and --max-requests-inflight, without it more get 429 and 0 is no limit; higher: longer writes under load, lower: waits and refusals earlier',
    default: 200,
  })
  @IsInt()
  @Min(0)
  maxMutatingRequestsInflight!: number;

  @Flag({
    name: 'enable-priority-and-fairness',
    description:
      'share what is worked on at once among priority levels and let requests above it wait in fair queues, if the gate APIPriorityAndFairness is on; off: the two limits above count for everybody, so that one busy client can shut others out',
    default: true,
  })
  enablePriorityAndFairness!: boolean;

  @Flag({
    name: 'history-retention',
    description:
      'how long changes are kept for watches that resume, exact lists and continue tokens; higher: more memory and disk, lower: clients that were away have to list again',
    default: '5m0s',
    type: 'duration',
  })
  @Min(1_000)
  @Max(7_200_000)
  historyRetentionMs!: number;

  @Flag({
    name: 'shutdown-delay-duration',
    description:
      'time between readiness failing and the end of service, for load balancers to notice; higher: slower restarts, lower: requests that still come fail',
    default: '0s',
    type: 'duration',
  })
  @Min(0)
  shutdownDelayMs!: number;
}
