/**
 * Users by service account token. A signature is checked once per token; that the account, and the pod
 * or secret the token is bound to, are still the ones it was made for is checked at every use.
 */
import type { ApiObject } from '@orch/api';
import { type Clock, dialect } from '@orch/component';
import type { VersionedStore } from '@orch/store';
import { credentialCacheEntriesMax, credentialReadTimeoutMs } from '../limits.js';
import { objectOf } from '../registry/entry-view.js';
import type { ResourceTable } from '../registry/resource-table.js';
import {
  accountUserName,
  type ObjectIdentity,
  type ServiceAccountTokens,
  type TokenSubject,
  type VerifiedToken,
} from './service-account-tokens.js';
import { authenticated, type User } from './user.js';

/** What is being deleted counts as gone that long after it should have been. */
const deletionToleranceMs = 60_000;

export interface ServiceAccountAuthenticatorSettings {
  readonly tokens: ServiceAccountTokens;
  readonly store: VersionedStore;
  readonly table: ResourceTable;
  readonly clock: Clock;
  readonly observer: TokenCacheObserver;
}

/** Told of tokens; must be quick. */
export interface TokenCacheObserver {
  /** A token was verified, or found to be verified before. */
  lookedUp(status: 'hit' | 'miss', seconds: number): void;
  fetchBegan(): void;
  /** `error`: whether the token is valid could not be found out. */
  fetchEnded(status: 'ok' | 'error'): void;
  /** A token proved who its bearer is. */
  valid(): void;
}

export interface TokenIdentity {
  readonly user: User;
  /** Those of the wanted audiences that the token is for. */
  readonly audiences: readonly string[];
}

export class ServiceAccountAuthenticator {
  private readonly verified = new Map<string, VerifiedToken>();

  constructor(private readonly settings: ServiceAccountAuthenticatorSettings) {}

  get apiAudiences(): readonly string[] {
    return this.settings.tokens.apiAudiences;
  }

  /**
   * Who brings `token` to one of `audiences`, the API's own when not given; undefined when the token is
   * not a service account's, has ended or was made for what is gone. Rejects with StoreError.
   */
  async authenticate(
    token: string,
    audiences: readonly string[] = this.apiAudiences,
  ): Promise<TokenIdentity | undefined> {
    const verified = await this.verify(token);
    if (!verified) return undefined;
    const shared = audiences.filter((audience) => verified.audiences.includes(audience));
    if (shared.length === 0 || !(await this.isAlive(verified.subject))) return undefined;
    this.settings.observer.valid();
    return { user: userOf(verified.subject), audiences: shared };
  }

  private async verify(token: string): Promise<VerifiedToken | undefined> {
    const { tokens, clock, observer } = this.settings;
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

  private async verifyNew(token: string): Promise<VerifiedToken | undefined> {
    const { tokens, observer } = this.settings;
    observer.fetchBegan();
    let status: 'ok' | 'error' = 'error';
    try {
      const verified = await tokens.verify(token);
      status = 'ok';
      if (verified) {
        if (this.verified.size >= credentialCacheEntriesMax) this.verified.clear();
        this.verified.set(token, verified);
      }
      return verified;
    } finally {
      observer.fetchEnded(status);
    }
  }

  private async isAlive({ namespace, account, pod, secret }: TokenSubject): Promise<boolean> {
    if (!(await this.exists('serviceaccounts', namespace, account))) return false;
    if (pod && !(await this.exists('pods', namespace, pod))) return false;
    return !secret || (await this.exists('secrets', namespace, secret));
  }

  /** Looks in memory first; that an object is missing is believed of a quorum only. */
  private async exists(plural: string, namespace: string, who: ObjectIdentity): Promise<boolean> {
    const { store, table } = this.settings;
    const key = table.stored('core', plural)?.key(namespace, who.name);
    if (key === undefined) return false;
    for (const kind of ['any', 'quorum'] as const) {
      const { entry } = await store.get(key, {
        consistency: { kind },
        timeoutMs: credentialReadTimeoutMs,
      });
      if (entry && this.isSame(objectOf(entry), who)) return true;
    }
    return false;
  }

  private isSame({ metadata }: ApiObject, { uid }: ObjectIdentity): boolean {
    const { deletionTimestamp } = metadata ?? {};
    const isGone =
      deletionTimestamp !== undefined &&
      Date.parse(deletionTimestamp) < this.settings.clock.nowMs() - deletionToleranceMs;
    return metadata?.uid === uid && !isGone;
  }
}

function userOf({ namespace, account, pod }: TokenSubject): User {
  const groups = ['system:serviceaccounts', `system:serviceaccounts:${namespace}`];
  const extra = pod && {
    [dialect().key('pod-name', 'authentication')]: [pod.name],
    [dialect().key('pod-uid', 'authentication')]: [pod.uid],
  };
  return authenticated(accountUserName(namespace, account.name), account.uid, groups, extra);
}
