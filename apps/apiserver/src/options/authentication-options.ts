/** Flags of authentication. */
import { Flag, Flags, ProxyAuthenticationOptions } from '@orch/component';
import { type ReviewVersion, reviewVersions } from '@orch/security';
import { IsIn, Min } from 'class-validator';
import { ServiceAccountOptions } from './service-account-options.js';

export class AuthenticationOptions {
  @Flag({
    name: 'client-ca-file',
    description:
      'PEM authorities of client certificates, reloaded when the file changes: the common name is the user, organizations are the groups',
    default: '',
  })
  clientCaFile!: string;

  @Flag({
    name: 'token-auth-file',
    description: 'CSV file of token,user,uid and optional groups; read at start only',
    default: '',
  })
  tokenFile!: string;

  @Flag({
    name: 'basic-auth-file',
    description:
      'CSV file of password,user,uid and optional groups; read at start only. Empty: no passwords. Prefer tokens that expire',
    default: '',
  })
  passwordFile!: string;

  @Flag({
    name: 'enable-bootstrap-token-auth',
    description:
      'accept the bootstrap tokens of the system namespace, with which nodes join the cluster',
    default: false,
  })
  bootstrapTokens!: boolean;

  @Flag({
    name: 'authentication-token-webhook-config-file',
    description: 'kubeconfig of a server that reviews bearer tokens; empty: none',
    default: '',
  })
  webhookConfigFile!: string;

  @Flag({
    name: 'authentication-token-webhook-version',
    description: `version of the reviews for that server, one of ${reviewVersions.join(', ')}`,
    default: 'v1beta1',
    type: 'string',
  })
  @IsIn(reviewVersions)
  webhookVersion!: ReviewVersion;

  @Flag({
    name: 'authentication-token-webhook-cache-ttl',
    description:
      'time for which the result of a token review is cached. Higher: a revoked token works longer. Lower: more requests to the webhook.',
    default: '2m0s',
    type: 'duration',
  })
  @Min(0)
  webhookCacheMs!: number;

  @Flag({
    name: 'api-audiences',
    description:
      'audiences of tokens for this API, which tokens without an audience get; empty: the issuer',
    type: 'list',
  })
  apiAudiences: string[] = [];

  @Flag({
    name: 'anonymous-auth',
    description:
      'admit requests without credentials as system:anonymous, which may read health only',
    default: true,
  })
  anonymous!: boolean;

  @Flags(ServiceAccountOptions)
  readonly serviceAccounts!: ServiceAccountOptions;

  @Flags(ProxyAuthenticationOptions)
  readonly proxy!: ProxyAuthenticationOptions;
}
