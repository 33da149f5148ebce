/**
 * The signing keys of an OpenID Connect provider: discovered once, fetched again when a token names
 * a key that is not known. Requests never wait for the provider while the key is known.
 */
import type { Clock, Logger } from '@orch/component';
import { createRemoteJWKSet, customFetch, type JWTVerifyGetKey } from 'jose';
import {
  oidcKeysCooldownMs,
  oidcKeysMaxAgeMs,
  oidcResponseBytesMax,
  oidcTimeoutMs,
} from '../../limits.js';

/** Fetches from the provider with the configured authorities. */
export type OidcFetch = (url: string, options: { signal: AbortSignal }) => Promise<Response>;

export interface OidcProviderDependencies {
  readonly issuer: string;
  readonly fetch: OidcFetch;
  readonly clock: Clock;
  readonly logger: Logger;
}

export class OidcProvider {
  private keys: JWTVerifyGetKey | undefined;
  private discovering: Promise<void> | undefined;
  private nextDiscoveryMs = 0;

  constructor(private readonly dependencies: OidcProviderDependencies) {}

  /** The keys; undefined while the provider has not been discovered, which is retried. */
  async signingKeys(): Promise<JWTVerifyGetKey | undefined> {
    if (this.keys) return this.keys;
    const { clock } = this.dependencies;
    if (!this.discovering && clock.monotonicMs() >= this.nextDiscoveryMs) {
      this.discovering = this.discover().finally(() => {
        this.discovering = undefined;
        this.nextDiscoveryMs = clock.monotonicMs() + oidcKeysCooldownMs;
      });
    }
    await this.discovering;
    return this.keys;
  }

  private async discover(): Promise<void> {
    const { issuer, logger } = this.dependencies;
    const url = `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`;
    try {
      const response = await this.fetch(url, AbortSignal.timeout(oidcTimeoutMs));
      const document = (await response.json()) as { issuer?: unknown; jwks_uri?: unknown };
      if (document.issuer !== issuer || typeof document.jwks_uri !== 'string') {
        throw new Error('the document is not that of the issuer, or names no keys');
      }
      this.keys = createRemoteJWKSet(new URL(document.jwks_uri), {
        timeoutDuration: oidcTimeoutMs,
        cooldownDuration: oidcKeysCooldownMs,
        cacheMaxAge: oidcKeysMaxAgeMs,
        [customFetch]: (from, { signal }) => this.fetchKeys(from, signal),
      });
      logger.info({ issuer }, 'discovered the OpenID Connect provider');
    } catch (error) {
      logger.warn({ err: error, issuer }, 'cannot discover the OpenID Connect provider yet');
    }
  }

  private async fetchKeys(url: string, signal: AbortSignal): Promise<Response> {
    try {
      return await this.fetch(url, signal);
    } catch (error) {
      this.dependencies.logger.warn({ err: error, url }, 'cannot read the keys of the provider');
      throw error;
    }
  }

  /** Rejects unless the response is complete, successful and of a reasonable size. */
  private async fetch(url: string, signal: AbortSignal): Promise<Response> {
    const response = await this.dependencies.fetch(url, { signal });
    if (response.status !== 200) throw new Error(`${url} responded with ${response.status}`);
    const parts: Uint8Array[] = [];
    let bytes = 0;
    for await (const part of response.body ?? []) {
      bytes += part.length;
      if (bytes > oidcResponseBytesMax) throw new Error(`${url} responded with too many bytes`);
      parts.push(part);
    }
    return new Response(Buffer.concat(parts), { status: 200, headers: response.headers });
  }
}
