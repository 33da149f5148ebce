/**
 * Service account tokens: signed statements of who their bearer is, for whom they are meant and until
 * when. What a token says was true when it was signed; whether account and bound object still exist is
 * for the authenticator to ask.
 */
import { type Clock, dialect } from '@orch/component';
import { errors, type JWTPayload, jwtVerify, SignJWT } from 'jose';
import type { ServiceAccountKeys } from './service-account-keys.js';

/** Clocks of servers may differ by that much. */
const clockToleranceSeconds = 60;

export interface ObjectIdentity {
  readonly name: string;
  readonly uid: string;
}

/** Whom a token is for: an account, for as long as the object lives that the token is bound to. */
export interface TokenSubject {
  readonly namespace: string;
  readonly account: ObjectIdentity;
  readonly pod?: ObjectIdentity;
  readonly secret?: ObjectIdentity;
}

export interface VerifiedToken {
  readonly subject: TokenSubject;
  readonly audiences: readonly string[];
  /** By the wall clock. */
  readonly expiresMs: number;
}

export interface ServiceAccountTokensSettings {
  readonly keys: ServiceAccountKeys;
  /** URL that names this cluster in its tokens. */
  readonly issuer: string;
  /** Audiences of tokens for the API itself. */
  readonly apiAudiences: readonly string[];
  readonly clock: Clock;
}

export class ServiceAccountTokens {
  readonly issuer: string;
  readonly keys: ServiceAccountKeys;
  readonly apiAudiences: readonly string[];
  private readonly clock: Clock;

  constructor({ issuer, keys, apiAudiences, clock }: ServiceAccountTokensSettings) {
    this.issuer = issuer;
    this.keys = keys;
    this.apiAudiences = apiAudiences;
    this.clock = clock;
  }

  async issue(
    subject: TokenSubject,
    audiences: readonly string[],
    lifetimeSeconds: number,
  ): Promise<{ readonly token: string; readonly expiresMs: number }> {
    const { algorithm, id, privateKey } = this.keys.signing;
    const nowSeconds = this.nowSeconds();
    const expiresSeconds = nowSeconds + lifetimeSeconds;
    const { namespace, account, pod, secret } = subject;
    const bound = { ...(pod && { pod }), ...(secret && { secret }) };
    const token = await new SignJWT({
      [dialect().keyDomain]: { namespace, serviceaccount: account, ...bound },
    })
      .setProtectedHeader({ alg: algorithm, kid: id })
      .setIssuer(this.issuer)
      .setSubject(accountUserName(namespace, account.name))
      .setAudience([...audiences])
      .setIssuedAt(nowSeconds)
      .setNotBefore(nowSeconds)
      .setExpirationTime(expiresSeconds)
      .sign(privateKey);
    return { token, expiresMs: expiresSeconds * 1_000 };
  }

  /** What the token says; undefined when it is not one of ours, or not valid now. */
  async verify(token: string): Promise<VerifiedToken | undefined> {
    try {
      const { payload } = await jwtVerify(
        token,
        ({ kid = '', alg }) => {
          const key = this.keys.believed.get(kid);
          if (!key || key.algorithm !== alg) throw new errors.JWKSNoMatchingKey();
          return key.publicKey;
        },
        {
          issuer: this.issuer,
          currentDate: new Date(this.nowSeconds() * 1_000),
          clockTolerance: clockToleranceSeconds,
          requiredClaims: ['aud', 'exp', 'sub'],
        },
      );
      return verifiedToken(payload);
    } catch (error) {
      if (error instanceof errors.JOSEError) return undefined;
      throw error;
    }
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
  const namespace = own?.namespace;
  if (typeof namespace !== 'string' || !account) return undefined;
  if (sub !== accountUserName(namespace, account.name)) return undefined;
  return {
    subject: { namespace, account, ...(pod && { pod }), ...(secret && { secret }) },
    audiences: [aud ?? []].flat(),
    expiresMs: exp * 1_000,
  };
}

function recordOf(value: unknown): Record<string, unknown> | undefined {
  return typeof value === 'object' && value !== null ? { ...value } : undefined;
}

function identityOf(value: unknown): ObjectIdentity | undefined {
  const { name, uid } = recordOf(value) ?? {};
  return typeof name === 'string' && typeof uid === 'string' ? { name, uid } : undefined;
}
