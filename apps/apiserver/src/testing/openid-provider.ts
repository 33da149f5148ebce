/**
 * An OpenID Connect provider for specs, over TLS: the `oidc-provider` package with one account per
 * name, which a password grant signs in.
 */
import { generateKeyPairSync, type JsonWebKey } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createAuthority, issueCertificate, systemClock } from '@orch/component';
import Provider, { type KoaContextWithOIDC } from 'oidc-provider';

const dayMs = 86_400_000;
export const clientId = 'orch';

export type Claims = Readonly<Record<string, unknown>>;

export class OpenIdProvider {
  private provider: Provider;
  private accounts: ReadonlyMap<string, Claims> = new Map();

  private constructor(
    readonly issuer: string,
    private readonly server: Server,
    private readonly directory: string,
  ) {
    this.provider = this.create([signingKey('RS256', 'first')]);
    server.on('request', (request, response) => {
      void this.provider.callback()(request, response);
    });
  }

  static async start(): Promise<OpenIdProvider> {
    const authority = await createAuthority('openid', dayMs, systemClock);
    const { certificatePem, keyPem } = await issueCertificate(
      authority,
      { commonName: 'openid-provider', hosts: ['127.0.0.1'], usages: ['server'], validMs: dayMs },
      systemClock,
    );
    const directory = mkdtempSync(join(tmpdir(), 'orch-openid-'));
    writeFileSync(join(directory, 'ca.pem'), authority.certificatePem);
    const server = createServer({ cert: certificatePem, key: keyPem }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    return new OpenIdProvider(`https://127.0.0.1:${port}`, server, directory);
  }

  get authorityFile(): string {
    return join(this.directory, 'ca.pem');
  }

  /** Signs with another key from now on, and publishes no other. */
  rotate(algorithm: 'RS256' | 'ES256', keyId: string): void {
    this.provider = this.create([signingKey(algorithm, keyId)], algorithm);
  }

  /** An ID token with these claims, which the provider issues in a password grant. */
  async idToken(name: string, claims: Claims): Promise<string> {
    this.accounts = new Map([[name, claims]]);
    const context = { req: {}, res: {} } as KoaContextWithOIDC;
    const token = new this.provider.IdToken({ sub: name, ...claims }, {
      client: await this.client(),
      ctx: context,
    } as never);
    token.set('sub', name);
    for (const [claim, value] of Object.entries(claims)) token.set(claim, value);
    return token.issue({ use: 'idtoken' });
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    this.server.close();
    await once(this.server, 'close');
    rmSync(this.directory, { recursive: true });
  }

  private async client() {
    const client = await this.provider.Client.find(clientId);
    if (!client) throw new Error('the provider does not know its client');
    return client;
  }

  private create(keys: JsonWebKey[], algorithm = 'RS256'): Provider {
    return new Provider(this.issuer, {
      clients: [
        {
          client_id: clientId,
          client_secret: 'not used',
          redirect_uris: ['https://127.0.0.1/callback'],
          id_token_signed_response_alg: algorithm as 'RS256',
        },
      ],
      jwks: { keys: keys as never },
      features: { devInteractions: { enabled: false } },
      cookies: { keys: ['not used'] },
      findAccount: (_context, accountId) => ({
        accountId,
        claims: async () => ({ sub: accountId, ...this.accounts.get(accountId) }),
      }),
    });
  }
}

function signingKey(algorithm: 'RS256' | 'ES256', keyId: string): JsonWebKey {
  const { privateKey } =
    algorithm === 'RS256'
      ? generateKeyPairSync('rsa', { modulusLength: 2048 })
      : generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return { ...privateKey.export({ format: 'jwk' }), kid: keyId, alg: algorithm, use: 'sig' };
}
