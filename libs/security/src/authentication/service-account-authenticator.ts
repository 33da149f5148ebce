/**
 * Authenticates service account tokens. A signature is verified once per token; every use verifies
 * that the account, and the pod or secret that the token is bound to, still exist.
 */
import { type Clock, dialect } from '@orch/component';
import { LRUCache } from 'lru-cache';
import { credentialCacheEntriesMax } from '../limits.js';
import {
  accountUserName,
  type ObjectIdentity,
  type ServiceAccountTokens,
  type TokenSubject,
  type VerifiedToken,
} from '../tokens/service-account-tokens.js';
import type { BoundObject, ObjectLookup } from './object-lookup.js';
import { areEqualSecrets } from './secret-digests.js';
import type { TokenIdentity } from './token-authenticator.js';
import { authenticated, serviceAccountGroups, type User } from './user.js';

/** Grace period after the deletion time of an object, during which its tokens remain valid. */
const deletionToleranceMs = 60_000;

export interface ServiceAccountAuthenticatorDependencies {
  readonly tokens: ServiceAccountTokens;
  readonly exists: ObjectLookup;
  /** Whether a legacy token is valid only as long as its secret stores it. */
  readonly lookup: boolean;
  readonly clock: Clock;
  readonly observer: TokenCacheObserver;
}

/** Notified of cache lookups. Called synchronously on the request path. */
export interface TokenCacheObserver {
  /** A token was verified, or found to be verified before. */
  lookedUp(status: 'hit' | 'miss', seconds: number): void;
  fetchBegan(): void;
  /** `error`: whether the token is valid could not be found out. */
  fetchEnded(status: 'ok' | 'error'): void;
  /** A token proved who its bearer is. */
  valid(): void;
  /** A valid token has no expiry and is stored in a secret. */
  legacy(): void;
  /** A valid token has an extended lifetime and should have been replaced. */
  stale(): void;
}

/** The user is one object for all requests with the token, for which authorization remembers it. */
interface KnownToken extends VerifiedToken {
  readonly user: User;
}

export class ServiceAccountAuthenticator {
  private readonly verified = new LRUCache<string, KnownToken>({
    max: credentialCacheEntriesMax,
  });

  constructor(private readonly dependencies: ServiceAccountAuthenticatorDependencies) {}

  get apiAudiences(): readonly string[] {
    return this.dependencies.tokens.apiAudiences;
  }

  /**
   * The user of `token` for one of `audiences`, by default the API's own; undefined if the token is
   * not a service account's, has expired or is bound to a deleted object. Rejects with StoreError.
   */
  async authenticate(
    token: string,
    audiences: readonly string[] = this.apiAudiences,
  ): Promise<TokenIdentity | undefined> {
    const verified = await this.verify(token);
    if (!verified) return undefined;
    const shared = audiences.filter((audience) => verified.audiences.includes(audience));
    if (shared.length === 0 || !(await this.isAlive(verified.subject, token))) return undefined;
    this.report(verified);
    return { user: verified.user, audiences: shared };
  }

  private async verify(token: string): Promise<KnownToken | undefined> {
    const { tokens, clock, observer } = this.dependencies;
    const startMs = clock.monotonicMs();
    const known = this.verified.get(token);
    if (known) {
      observer.lookedUp('hit', (clock.monotonicMs() - startMs) / 1_000);
      if (!tokens.hasExpired(known)) return known;
      this.verified.delete(token);
      return undefined;
    }
    try {
      return await this.verifyNew(token);
    } finally {
      observer.lookedUp('miss', (clock.monotonicMs() - startMs) / 1_000);
    }
  }

  private async verifyNew(token: string): Promise<KnownToken | undefined> {
    const { tokens, observer } = this.dependencies;
    observer.fetchBegan();
    let status: 'ok' | 'error' = 'error';
    try {
      const verified = await tokens.verify(token);
      status = 'ok';
      if (!verified) return undefined;
      const known = { ...verified, user: userOf(verified.subject) };
      this.verified.set(token, known);
      return known;
    } finally {
      observer.fetchEnded(status);
    }
  }

  private report({ subject, staleMs }: VerifiedToken): void {
    const { observer, clock } = this.dependencies;
    observer.valid();
    if (subject.storedIn !== undefined) observer.legacy();
    if (staleMs !== undefined && staleMs < clock.nowMs()) observer.stale();
  }

  private async isAlive(subject: TokenSubject, token: string): Promise<boolean> {
    const { namespace, account, pod, secret, storedIn } = subject;
    if (storedIn !== undefined) {
      if (!this.dependencies.lookup) return true;
      if (!(await this.isStored(namespace, storedIn, token))) return false;
    }
    if (!(await this.exists('serviceaccounts', namespace, account))) return false;
    if (pod && !(await this.exists('pods', namespace, pod))) return false;
    return !secret || (await this.exists('secrets', namespace, secret));
  }

  private isStored(namespace: string, name: string, token: string): Promise<boolean> {
    return this.dependencies.exists('secrets', namespace, name, ({ metadata, data }) => {
      const stored = Buffer.from(data?.token ?? '', 'base64').toString();
      return !this.isGone(metadata) && areEqualSecrets(stored, token);
    });
  }

  private exists(plural: string, namespace: string, who: ObjectIdentity): Promise<boolean> {
    return this.dependencies.exists(
      plural,
      namespace,
      who.name,
      ({ metadata }) => metadata?.uid === who.uid && !this.isGone(metadata),
    );
  }

  private isGone(metadata: BoundObject['metadata']): boolean {
    const { deletionTimestamp } = metadata ?? {};
    return (
      deletionTimestamp !== undefined &&
      Date.parse(deletionTimestamp) < this.dependencies.clock.nowMs() - deletionToleranceMs
    );
  }
}

function userOf({ namespace, account, pod }: TokenSubject): User {
  const groups = serviceAccountGroups(namespace);
  const extra = pod && {
    [dialect().key('pod-name', 'authentication')]: [pod.name],
    [dialect().key('pod-uid', 'authentication')]: [pod.uid],
  };
  return authenticated(accountUserName(namespace, account.name), account.uid, groups, extra);
}
