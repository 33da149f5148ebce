/**
 * Legacy service account tokens: without expiry and audience, bound to the secret that stores them,
 * of an issuer of their own.
 */
import { type LegacyTokenClaim, legacyTokenClaim } from '@orch/component';
import type { JWTPayload } from 'jose';
import type { TokenSubject } from './token-subject.js';

/** Undefined: a claim is missing. */
export function legacySubject(claims: JWTPayload): TokenSubject | undefined {
  const claim = (name: LegacyTokenClaim) => {
    const value = claims[legacyTokenClaim(name)];
    return typeof value === 'string' ? value : '';
  };
  const namespace = claim('namespace');
  const account = { name: claim('service-account.name'), uid: claim('service-account.uid') };
  const storedIn = claim('secret.name');
  if ([namespace, account.name, account.uid, storedIn].includes('')) return undefined;
  return { namespace, account, storedIn };
}
