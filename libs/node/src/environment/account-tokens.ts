/**
 * Service account tokens for the pods of this node. A token is bound to its pod and cached; it is
 * replaced after most of its lifetime. If that fails, the old token remains in use until it
 * expires.
 */
import { type ApiClient, ApiError, TransportError } from '@orch/client';
import { type Clock, dialect, type Logger } from '@orch/component';
import type { TokenRequest } from '@orch/types/authentication/v1';
import type { Pod, ServiceAccountTokenProjection } from '@orch/types/core/v1';
import { LRUCache } from 'lru-cache';
import { accountTokenCountMax, accountTokenSecondsDefault } from '../limits.js';
import { BrokenReference } from './referenced-objects.js';

/** Share of its lifetime after which a token is replaced. */
const refreshShare = 0.8;

export interface AccountTokens {
  /** Returns a valid token. Rejects with `BrokenReference` if none can be obtained. */
  token(pod: Pod, source: ServiceAccountTokenProjection): Promise<string>;
}

interface CachedToken {
  readonly token: string;
  /** Monotonic, so that changes of the wall clock have no effect. */
  readonly refreshMs: number;
  readonly expiresMs: number;
}

export interface TokenManagerDependencies {
  readonly client: Pick<ApiClient, 'request'>;
  readonly clock: Clock;
  readonly logger: Pick<Logger, 'warn'>;
}

export class TokenManager implements AccountTokens {
  private readonly tokens = new LRUCache<string, CachedToken>({ max: accountTokenCountMax });

  constructor(private readonly dependencies: TokenManagerDependencies) {}

  async token(pod: Pod, source: ServiceAccountTokenProjection): Promise<string> {
    const { clock, logger } = this.dependencies;
    const { audience = '', expirationSeconds = accountTokenSecondsDefault } = source;
    const key = [pod.metadata?.uid, audience, expirationSeconds].join('|');
    const cached = this.tokens.get(key);
    if (cached && clock.monotonicMs() < cached.refreshMs) return cached.token;
    try {
      const requested = await this.request(pod, audience, expirationSeconds);
      this.tokens.set(key, requested);
      return requested.token;
    } catch (error) {
      if (!(error instanceof ApiError || error instanceof TransportError)) throw error;
      if (cached && clock.monotonicMs() < cached.expiresMs) {
        logger.warn(
          { err: error, pod: pod.metadata?.name },
          'token not renewed, using the old token',
        );
        return cached.token;
      }
      throw new BrokenReference(`failed to fetch token: ${error.message}`, { cause: error });
    }
  }

  private async request(
    pod: Pod,
    audience: string,
    expirationSeconds: number,
  ): Promise<CachedToken> {
    const { client, clock } = this.dependencies;
    const { namespace = '', name = '', uid = '' } = pod.metadata ?? {};
    const account = pod.spec?.serviceAccountName || 'default';
    const path = `/api/v1/namespaces/${namespace}/serviceaccounts/${account}/token`;
    const body: TokenRequest = {
      apiVersion: dialect().apiVersion('authentication', 'v1'),
      kind: 'TokenRequest',
      spec: {
        audiences: audience === '' ? [] : [audience],
        expirationSeconds,
        boundObjectRef: { apiVersion: 'v1', kind: 'Pod', name, uid },
      },
    };
    const requestedMs = clock.monotonicMs();
    const response = await client.request('POST', path, { body });
    const { status } = response.json<TokenRequest>();
    if (!status?.token) throw new BrokenReference('the API server returned no token');
    // The server may grant another lifetime than requested.
    const lifetimeMs = Math.max(0, Date.parse(status.expirationTimestamp ?? '') - clock.nowMs());
    return {
      token: status.token,
      refreshMs: requestedMs + refreshShare * lifetimeMs,
      expiresMs: requestedMs + lifetimeMs,
    };
  }
}
