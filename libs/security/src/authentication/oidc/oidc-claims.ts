/** Maps the claims of a verified ID token to a user. */
import type { JWTPayload } from 'jose';
import { authenticated, type User } from '../user.js';

export interface OidcClaimOptions {
  readonly usernameClaim: string;
  /** Before user names; `-`: none. Empty: the issuer and `#`, but none for e-mail addresses. */
  readonly usernamePrefix: string;
  /** Empty: users have no groups. */
  readonly groupsClaim: string;
  readonly groupsPrefix: string;
  /** Claims that must have exactly these values. */
  readonly requiredClaims: ReadonlyMap<string, string>;
}

const emailClaim = 'email';

/** Undefined: a claim is missing, has another type or another value than required. */
export function userOfClaims(
  claims: JWTPayload,
  issuer: string,
  options: OidcClaimOptions,
): User | undefined {
  for (const [name, value] of options.requiredClaims) if (claims[name] !== value) return undefined;
  const { usernameClaim, groupsPrefix } = options;
  const name = claims[usernameClaim];
  if (typeof name !== 'string' || name === '') return undefined;
  // An address that the provider has not verified proves nothing.
  const isVerified = claims.email_verified === undefined || claims.email_verified === true;
  if (usernameClaim === emailClaim && !isVerified) return undefined;
  const groups = groupsOf(claims, options.groupsClaim);
  if (!groups) return undefined;
  const prefixed = groups.map((group) => `${groupsPrefix}${group}`);
  return authenticated(`${usernamePrefix(issuer, options)}${name}`, '', prefixed);
}

function usernamePrefix(issuer: string, options: OidcClaimOptions): string {
  const { usernameClaim, usernamePrefix: prefix } = options;
  if (prefix === '-') return '';
  if (prefix !== '') return prefix;
  return usernameClaim === emailClaim ? '' : `${issuer}#`;
}

/** One group may be a text instead of a list. Undefined: the claim has another type. */
function groupsOf(claims: JWTPayload, claim: string): readonly string[] | undefined {
  const value = claim === '' ? undefined : claims[claim];
  if (value === undefined) return [];
  if (typeof value === 'string') return [value];
  const isList = Array.isArray(value) && value.every((group) => typeof group === 'string');
  return isList ? value : undefined;
}
