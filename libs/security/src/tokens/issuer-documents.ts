/**
 * The OpenID discovery documents, with which other servers verify service account tokens: the
 * issuer and its keys.
 */
import { keySet } from './service-account-keys.js';
import type { ServiceAccountTokens } from './service-account-tokens.js';

export interface IssuerDocumentsDependencies {
  readonly tokens: ServiceAccountTokens;
  /** Where others fetch the keys; empty is this server. */
  readonly keySetUri: string;
  /** Where others reach this server. */
  readonly host: string;
}

export class IssuerDocuments {
  constructor(private readonly dependencies: IssuerDocumentsDependencies) {}

  /** `port`: the local port of the request. */
  configuration(port: number): object {
    const { tokens, keySetUri, host } = this.dependencies;
    const authority = host.includes(':') ? `[${host}]` : host;
    const algorithms = [...tokens.keys.believed.values()].map(({ algorithm }) => algorithm);
    return {
      issuer: tokens.issuer,
      jwks_uri: keySetUri || `https://${authority}:${port}/openid/v1/jwks`,
      response_types_supported: ['id_token'],
      subject_types_supported: ['public'],
      id_token_signing_alg_values_supported: [...new Set(algorithms)].sort(),
    };
  }

  keySet(): object {
    return keySet(this.dependencies.tokens.keys);
  }
}
