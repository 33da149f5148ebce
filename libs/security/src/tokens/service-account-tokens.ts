/**
 * Service account tokens: signed claims about their bearer, audiences and expiry. They were true
 * when they were signed; the authenticator checks whether the account and the bound object still
 * exist.
 */
import { type Clock, dialect, legacyTokenIssuer } from '@orch/component';
import {
  decodeJwt,
  errors,
  type JWTPayload,
  type JWTVerifyOptions,
  jwtVerify,
  SignJWT,
} from 'jose';
import { legacySubject } from './legacy-tokens.js';
import type { ServiceAccountKeys } from './service-account-keys.js';
import { type TokenLifetime, type TokenLifetimeOptions, tokenLifetime } from './token-lifetimes.js';
import type { ObjectIdentity, TokenSubject } from './token-subject.js';

export type { ObjectIdentity, TokenSubject };

/** Clocks of servers may differ by that much. */
const clockToleranceSeconds = 60;

export interface VerifiedToken {
  readonly subject: TokenSubject;
  readonly audiences: readonly string[];
  /** By the wall clock; infinite for a legacy token. */
  readonly expiresMs: number;
  /** When the token should have been replaced; absent unless its lifetime is extended. */
  readonly staleMs?: number;
}

export interface ServiceAccountTokensOptions {
  readonly keys: ServiceAccountKeys;
  /** URL that names this cluster in its tokens. */
  readonly issuer: string;
  /** Audiences of tokens for the API itself. */
  readonly apiAudiences: readonly string[];
  readonly lifetimes: TokenLifetimeOptions;
  readonly clock: Clock;
}

export class ServiceAccountTokens {
  readonly issuer: string;
  readonly keys: ServiceAccountKeys;
  readonly apiAudiences: readonly string[];
  private readonly clock: Clock;
  private readonly lifetimes: TokenLifetimeOptions;

  constructor({ issuer, keys, apiAudiences, lifetimes, clock }: ServiceAccountTokensOptions) {
    this.issuer = issuer;
    this.keys = keys;
    this.apiAudiences = apiAudiences;
    this.lifetimes = lifetimes;
    this.clock = clock;
  }

  /** The lifetime that a request for a token of `wantedSeconds` gets. */
  lifetimeOf(
    { pod }: TokenSubject,
    audiences: readonly string[],
    wantedSeconds: number,
  ): TokenLifetime {
    const isForApi =
      pod !== undefined && audiences.every((audience) => this.apiAudiences.includes(audience));
    return tokenLifetime(wantedSeconds, isForApi, this.lifetimes);
  }

  /** `expiresMs`: the end of the requested lifetime, which an extended token outlives. */
  async issue(
    subject: TokenSubject,
    audiences: readonly string[],
    wantedSeconds: number,
  ): Promise<{ readonly token: string; readonly expiresMs: number }> {
    const { algorithm, id, privateKey } = this.keys.signing;
    const { requestedSeconds, seconds, isExtended } = this.lifetimeOf(
      subject,
      audiences,
      wantedSeconds,
    );
    const nowSeconds = this.nowSeconds();
    const requestedEnd = nowSeconds + requestedSeconds;
    const { namespace, account, pod, secret } = subject;
    const bound = {
      ...(pod && { pod }),
      ...(secret && { secret }),
      ...(isExtended && { warnafter: requestedEnd }),
    };
    const token = await new SignJWT({
      [dialect().keyDomain]: { namespace, serviceaccount: account, ...bound },
    })
      .setProtectedHeader({ alg: algorithm, kid: id })
      .setIssuer(this.issuer)
      .setSubject(accountUserName(namespace, account.name))
      .setAudience([...audiences])
      .setIssuedAt(nowSeconds)
      .setNotBefore(nowSeconds)
      .setExpirationTime(nowSeconds + seconds)
      .sign(privateKey);
    return { token, expiresMs: requestedEnd * 1_000 };
  }

  /** What the token says; undefined when it is not one of ours, or not valid now. */
  async verify(token: string): Promise<VerifiedToken | undefined> {
    try {
      const isLegacy = decodeJwt(token).iss === legacyTokenIssuer();
      const payload = await this.payloadOf(
        token,
        isLegacy
          ? { issuer: legacyTokenIssuer(), requiredClaims: ['sub'] }
          : { issuer: this.issuer, requiredClaims: ['aud', 'exp', 'sub'] },
      );
      return isLegacy ? this.legacyToken(payload) : verifiedToken(payload);
    } catch (error) {
      if (error instanceof errors.JOSEError) return undefined;
      throw error;
    }
  }

  private async payloadOf(token: string, options: JWTVerifyOptions): Promise<JWTPayload> {
    const { payload } = await jwtVerify(
      token,
      ({ kid, alg }) => {
        const key = this.keys.believed.get(kid ?? '');
        if (!key || key.algorithm !== alg) throw new errors.JWKSNoMatchingKey();
        return key.publicKey;
      },
      {
        ...options,
        currentDate: new Date(this.nowSeconds() * 1_000),
        clockTolerance: clockToleranceSeconds,
      },
    );
    return payload;
  }

  private legacyToken({ sub, exp, ...claims }: JWTPayload): VerifiedToken | undefined {
    const subject = legacySubject(claims);
    if (!subject || sub !== accountUserName(subject.namespace, subject.account.name)) {
      return undefined;
    }
    const expiresMs = exp === undefined ? Number.POSITIVE_INFINITY : exp * 1_000;
    return { subject, audiences: this.apiAudiences, expiresMs };
  }

  /** Whether a token that was good once has ended since. */
  hasExpired({ expiresMs }: VerifiedToken): boolean {
    return this.clock.nowMs() >= expiresMs + clockToleranceSeconds * 1_000;
  }

  private nowSeconds(): number {
    return Math.floor(this.clock.nowMs() / 1_000);
  }
}

/** The user that bearers of an account's tokens are. */
export function accountUserName(namespace: string, name: string): string {
  return `system:serviceaccount:${namespace}:${name}`;
}

function verifiedToken({ aud, exp = 0, sub, ...claims }: JWTPayload): VerifiedToken | undefined {
  const own = recordOf(claims[dialect().keyDomain]);
  const account = identityOf(own?.serviceaccount);
  const pod = identityOf(own?.pod);
  const secret = identityOf(own?.secret);
  const { namespace, warnafter } = own ?? {};
  if (typeof namespace !== 'string' || !account) return undefined;
  if (sub !== accountUserName(namespace, account.name)) return undefined;
  return {
    subject: { namespace, account, ...(pod && { pod }), ...(secret && { secret }) },
    audiences: [aud ?? []].flat(),
    expiresMs: exp * 1_000,
    ...(typeof warnafter === 'number' && { staleMs: warnafter * 1_000 }),
  };
}

function recordOf(value: unknown): Record<string, unknown> | undefined {
  return typeof value === 'object' && value !== null ? { ...value } : undefined;
}

function identityOf(value: unknown): ObjectIdentity | undefined {
  const { name, uid } = recordOf(value) ?? {};
  return typeof name === 'string' && typeof uid === 'string' ? { name, uid } : undefined;
}
