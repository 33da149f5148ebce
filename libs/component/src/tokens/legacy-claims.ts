/** The issuer and the claims of legacy service account tokens, which a secret stores. */
import { dialect } from '../dialect/dialect.js';

export function legacyTokenIssuer(): string {
  return `${dialect().word}/serviceaccount`;
}

export type LegacyTokenClaim =
  | 'namespace'
  | 'secret.name'
  | 'service-account.name'
  | 'service-account.uid';

/** The name of the claim in a token. */
export function legacyTokenClaim(claim: LegacyTokenClaim): string {
  return `${dialect().keyDomain}/serviceaccount/${claim}`;
}
