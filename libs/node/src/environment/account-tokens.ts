/**
 * Tokens of service accounts for the pods of this node. Each is bound to its pod, kept until most of its
 * life is over and asked for again then; while that fails, the old one serves until it ends.
 */
import { ApiError, type RestClient, TransportError } from '@orch/client';
import { type Clock, dialect, type Logger } from '@orch/component';
import type { TokenRequest } from '@orch/types/authentication/v1';
import type { Pod, ServiceAccountTokenProjection } from '@orch/types/core/v1';
import { accountTokenCountMax, accountTokenSecondsDefault } from '../limits.js';
import { BrokenReference } from './referenced-objects.js';

/** Share of its life after which a token is replaced. */
const refreshShare = 0.8;

export interface AccountTokens {
  /** Rejects with `BrokenReference` if there is none to be had. */
  token(pod: Pod, source: ServiceAccountTokenProjection): Promise<string>;
}

interface Held {
  readonly token: string;
  /** By the monotonic clock, so that a changed clock of this machine changes nothing. */
  readonly refreshMs: number;
  readonly endsMs: number;
}

export interface RequestedTokensSettings {
  readonly client: RestClient;
  readonly clock: Clock;
  readonly logger: Logger;
}

export class RequestedTokens implements AccountTokens {
  private readonly held = new Map<string, Held>();

  constructor(private readonly settings: RequestedTokensSettings) {}

  async token(pod: Pod, source: ServiceAccountTokenProjection): Promise<string> {
    const { clock, logger } = this.settings;
    const { audience = '', expirationSeconds = accountTokenSecondsDefault } = source;
    const key = [pod.metadata?.uid, audience, expirationSeconds].join('|');
    const before = this.held.get(key);
    if (before && clock.monotonicMs() < before.refreshMs) return before.token;
    try {
      const fresh = await this.request(pod, audience, expirationSeconds);
      this.hold(key, fresh);
      return fresh.token;
    } catch (error) {
      if (!(error instanceof ApiError || error instanceof TransportError)) throw error;
      if (before && clock.monotonicMs() < before.endsMs) {
        logger.warn(
          { err: error, pod: pod.metadata?.name },
          'token not renewed, the old one serves',
        );
        return before.token;
      }
      throw new BrokenReference(`failed to fetch token: ${error.message}`, { cause: error });
    }
  }

  private async request(pod: Pod, audience: string, expirationSeconds: number): Promise<Held> {
    const { client, clock } = this.settings;
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
    const askedMs = clock.monotonicMs();
    const answer = await client.request('POST', path, { body });
    const { status } = answer.json<TokenRequest>();
    if (!status?.token) throw new BrokenReference('the API answered without a token');
    // The server may give less or more than was asked for; what it gives counts, by its end.
    const lifeMs = Math.max(0, Date.parse(status.expirationTimestamp ?? '') - clock.nowMs());
    return {
      token: status.token,
      refreshMs: askedMs + refreshShare * lifeMs,
      endsMs: askedMs + lifeMs,
    };
  }

  private hold(key: string, fresh: Held): void {
    this.held.delete(key);
    const nowMs = this.settings.clock.monotonicMs();
    if (this.held.size >= accountTokenCountMax) {
      for (const [other, { endsMs }] of this.held) if (endsMs <= nowMs) this.held.delete(other);
    }
    // The one held longest goes: if its pod is still there, it is asked for again.
    const [oldest] = this.held.keys();
    if (this.held.size >= accountTokenCountMax && oldest !== undefined) this.held.delete(oldest);
    this.held.set(key, fresh);
  }
}
