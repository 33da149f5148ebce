/**
 * Every authenticator of the server, in the order in which they are called. A new one is a file
 * with a function and an entry in one of the lists.
 */
import type { Clock } from '@orch/component';
import type { ServiceAccountTokens } from '../tokens/service-account-tokens.js';
import type { AuthenticationMetrics } from './authentication-metrics.js';
import { type Authenticator, orAnonymous, unionOf } from './authenticator.js';
import { basicAuth, type PasswordUser } from './basic-auth.js';
import { type BootstrapTokensDependencies, bootstrapTokens } from './bootstrap-tokens.js';
import type { CertificateAuthorities } from './certificate-authorities.js';
import { clientCertificates } from './client-certificates.js';
import { measured } from './measured-authenticator.js';
import type { ObjectLookup } from './object-lookup.js';
import { type RequestHeaderOptions, requestHeaders } from './request-headers.js';
import { ServiceAccountAuthenticator } from './service-account-authenticator.js';
import {
  bearerTokenOf,
  bearerTokens,
  staticTokens,
  type TokenAuthenticator,
  tokenUnionOf,
} from './token-authenticator.js';
import { type TokenWebhookOptions, tokenWebhook } from './token-webhook.js';
import { anonymousUser, type User } from './user.js';

export interface AuthenticationDependencies {
  /** The users of the static token file, by token. */
  readonly staticTokens: ReadonlyMap<string, User>;
  readonly serviceAccountTokens: ServiceAccountTokens;
  /** For ID tokens; undefined: no provider is configured. */
  readonly oidc: TokenAuthenticator | undefined;
  /** Whether legacy tokens are valid only as long as their secrets store them. */
  readonly serviceAccountLookup: boolean;
  readonly exists: ObjectLookup;
  /** Reads the secrets of bootstrap tokens; undefined: those tokens are not valid. */
  readonly readBootstrapSecret: BootstrapTokensDependencies['readSecret'] | undefined;
  /** The webhook that reviews tokens; undefined: none. */
  readonly tokenWebhook: TokenWebhookOptions | undefined;
  /** The authenticating proxy; undefined: headers never name a user. */
  readonly requestHeaders: RequestHeaderOptions | undefined;
  /** The authorities of users; undefined: certificates never name a user. */
  readonly clientAuthorities: CertificateAuthorities | undefined;
  /** Users with a password, by name. */
  readonly passwords: ReadonlyMap<string, PasswordUser>;
  readonly clock: Clock;
  readonly metrics: AuthenticationMetrics;
  /** Whether requests without credentials are of the anonymous user; otherwise they get 401. */
  readonly anonymous: boolean;
}

/** Authenticates requests, and the tokens of token reviews. */
export interface Authentication {
  readonly authenticate: Authenticator;
  /** For token reviews: a text without a token counts as a request without credentials. */
  readonly authenticateToken: TokenAuthenticator;
  /** The audiences of the API itself. */
  readonly apiAudiences: readonly string[];
}

type Dependencies = AuthenticationDependencies & Omit<Authentication, 'authenticate'>;

/** Undefined: not configured. */
const tokenAuthenticators: readonly ((
  dependencies: AuthenticationDependencies & { readonly apiAudiences: readonly string[] },
) => TokenAuthenticator | undefined)[] = [
  (dependencies) => staticTokens(dependencies.staticTokens, dependencies.apiAudiences),
  ({ serviceAccountTokens: tokens, serviceAccountLookup: lookup, exists, clock, metrics }) => {
    const observer = metrics.tokenCache;
    const accounts = new ServiceAccountAuthenticator({ tokens, exists, lookup, clock, observer });
    return (token, audiences) => accounts.authenticate(token, audiences);
  },
  ({ oidc }) => oidc,
  ({ readBootstrapSecret: readSecret, apiAudiences, clock }) =>
    readSecret && bootstrapTokens({ readSecret, apiAudiences, clock }),
  ({ tokenWebhook: webhook, apiAudiences, clock, metrics: { tokenCache: observer } }) =>
    webhook && tokenWebhook({ ...webhook, apiAudiences, clock, observer }),
];

const authenticators: readonly ((dependencies: Dependencies) => Authenticator | undefined)[] = [
  ({ requestHeaders: proxy, clock }) => proxy && requestHeaders(proxy, clock),
  ({ authenticateToken, apiAudiences }) => bearerTokens(authenticateToken, apiAudiences),
  ({ passwords }) => (passwords.size > 0 ? basicAuth(passwords) : undefined),
  ({ clientAuthorities: authorities, clock, metrics: observer }) =>
    authorities && clientCertificates({ authorities, clock, observer }),
];

export function createAuthentication(dependencies: AuthenticationDependencies): Authentication {
  const { anonymous, clock, metrics } = dependencies;
  const { apiAudiences } = dependencies.serviceAccountTokens;
  const authenticateToken = tokenUnionOf(
    tokenAuthenticators.flatMap((create) => create({ ...dependencies, apiAudiences }) ?? []),
  );
  const all = { ...dependencies, authenticateToken, apiAudiences };
  const credentials = unionOf(authenticators.flatMap((create) => create(all) ?? []));
  const authenticate = measured(anonymous ? orAnonymous(credentials) : credentials, clock, metrics);
  const authenticateReviewed: TokenAuthenticator = async (text, audiences) => {
    const token = bearerTokenOf(`Bearer ${text}`);
    if (token !== '') {
      const identity = await authenticateToken(token, audiences);
      return identity && identity.user.name !== '' ? identity : undefined;
    }
    return anonymous ? { user: anonymousUser, audiences: apiAudiences } : undefined;
  };
  return { authenticate, authenticateToken: authenticateReviewed, apiAudiences };
}
