/**
 * Authenticates ID tokens of one OpenID Connect provider. A signature is verified once per token;
 * the token stays valid until it expires.
 */
import type { Clock } from '@orch/component';
import { decodeJwt, errors, type JWTPayload, jwtVerify } from 'jose';
import { LRUCache } from 'lru-cache';
import { bearerTokenLengthMax, credentialCacheEntriesMax } from '../../limits.js';
import type { TokenAuthenticator, TokenIdentity } from '../token-authenticator.js';
import type { User } from '../user.js';
import { type OidcClaimOptions, userOfClaims } from './oidc-claims.js';
import type { OidcProvider } from './oidc-provider.js';

/** Clocks of the provider and of this server may differ by that much. */
const clockToleranceSeconds = 10;

export interface OidcOptions extends OidcClaimOptions {
  readonly issuer: string;
  readonly clientId: string;
  /** Signature algorithms that are accepted, such as `RS256`; never `none` or a shared secret. */
  readonly algorithms: readonly string[];
}

export interface OidcDependencies {
  readonly options: OidcOptions;
  readonly provider: OidcProvider;
  /** The audiences of the API: an ID token is for the API alone. */
  readonly apiAudiences: readonly string[];
  readonly clock: Clock;
}

interface VerifiedUser {
  readonly user: User;
  readonly expiresMs: number;
}

export function oidcAuthenticator(dependencies: OidcDependencies): TokenAuthenticator {
  const tokens = new OidcTokens(dependencies);
  return (token, audiences) => tokens.authenticate(token, audiences);
}

class OidcTokens {
  private readonly verified = new LRUCache<string, VerifiedUser>({
    max: credentialCacheEntriesMax,
  });

  constructor(private readonly dependencies: OidcDependencies) {}

  async authenticate(
    token: string,
    audiences: readonly string[],
  ): Promise<TokenIdentity | undefined> {
    const { clock, apiAudiences } = this.dependencies;
    const shared = audiences.filter((audience) => apiAudiences.includes(audience));
    if (shared.length === 0) return undefined;
    const known = this.verified.get(token);
    if (known) {
      if (known.expiresMs > clock.nowMs()) return { user: known.user, audiences: shared };
      this.verified.delete(token);
      return undefined;
    }
    const verified = await this.verify(token);
    if (!verified) return undefined;
    this.verified.set(token, verified);
    return { user: verified.user, audiences: shared };
  }

  private async verify(token: string): Promise<VerifiedUser | undefined> {
    const { options, provider, clock } = this.dependencies;
    if (!isFrom(options.issuer, token)) return undefined;
    const keys = await provider.signingKeys();
    if (!keys) return undefined;
    try {
      const { payload } = await jwtVerify(token, keys, {
        issuer: options.issuer,
        audience: options.clientId,
        algorithms: [...options.algorithms],
        requiredClaims: ['exp'],
        clockTolerance: clockToleranceSeconds,
        currentDate: new Date(clock.nowMs()),
      });
      const user = userOfClaims(payload, options.issuer, options);
      return user && { user, expiresMs: ((payload.exp ?? 0) + clockToleranceSeconds) * 1_000 };
    } catch (error) {
      // Also a provider that cannot be reached: the token proves nothing now.
      if (error instanceof errors.JOSEError || isProviderError(error)) return undefined;
      throw error;
    }
  }
}

/** Tokens of other issuers are for other authenticators, and never make the provider be called. */
function isFrom(issuer: string, token: string): boolean {
  if (token.length > bearerTokenLengthMax) return false;
  let claims: JWTPayload;
  try {
    claims = decodeJwt(token);
  } catch (error) {
    if (error instanceof errors.JWTInvalid) return false;
    throw error;
  }
  return claims.iss === issuer;
}

/** Errors of the provider's fetch are plain. */
function isProviderError(error: unknown): boolean {
  return error instanceof Error && (error.name === 'Error' || error.name === 'TypeError');
}
