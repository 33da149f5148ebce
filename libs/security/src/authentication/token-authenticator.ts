/** Bearer tokens: authenticators of tokens, and the authenticator of requests that carry one. */
import { unauthorized } from '@orch/apimachinery';
import { type Awaitable, firstAccepted } from '@orch/component';
import { LRUCache } from 'lru-cache';
import { credentialCacheEntriesMax } from '../limits.js';
import type { Authenticator } from './authenticator.js';
import { SecretDigests } from './secret-digests.js';
import type { User } from './user.js';

export interface TokenIdentity {
  readonly user: User;
  /** The requested audiences that the token is valid for. */
  readonly audiences: readonly string[];
}

/** A token is rejected for a reason that token reviews report; it never contains the token. */
export class TokenError extends Error {
  override readonly name = 'TokenError';
}

/**
 * The identity that a token proves to one of `audiences`. Undefined: the token is not known,
 * expired, or for other audiences. Fails with TokenError for a token of this kind that is not
 * valid, with StoreError if it cannot be checked. Returns a promise only if it has to wait.
 */
export type TokenAuthenticator = (
  token: string,
  audiences: readonly string[],
) => Awaitable<TokenIdentity | undefined>;

/** The first identity that an authenticator finds. Without one, the errors of all are thrown. */
export function tokenUnionOf(authenticators: readonly TokenAuthenticator[]): TokenAuthenticator {
  return firstAccepted(authenticators, {
    accepts: (identity) => identity !== undefined,
    passes: (error) => error instanceof TokenError,
    otherwise(_identities, errors) {
      if (errors.length === 0) return undefined;
      throw new TokenError(errors.map((error) => (error as TokenError).message).join(', '));
    },
  });
}

/**
 * Tokens of a fixed list; they are for the API alone. Found by digest, so that the time of a lookup
 * reveals nothing of a token. A token that was found is found by its hash afterwards, whose seed is
 * random as well: a digest costs more than the rest of authentication.
 */
export function staticTokens(
  tokens: ReadonlyMap<string, User>,
  apiAudiences: readonly string[],
): TokenAuthenticator {
  const digests = new SecretDigests();
  const users = new Map([...tokens].map(([token, user]) => [digests.textOf(token), user]));
  const found = new LRUCache<string, TokenIdentity>({ max: credentialCacheEntriesMax });
  return (token, audiences) => {
    if (users.size === 0) return undefined;
    let identity = found.get(token);
    if (!identity) {
      const user = users.get(digests.textOf(token));
      if (!user) return undefined;
      identity = { user, audiences: apiAudiences };
      found.set(token, identity);
    }
    // Requests pass the audiences of the API themselves, token reviews others.
    if (audiences === apiAudiences) return identity;
    const shared = audiences.filter((audience) => apiAudiences.includes(audience));
    return shared.length > 0 ? { user: identity.user, audiences: shared } : undefined;
  };
}

const bearerScheme = 'bearer';

/** Empty: no bearer token. What follows the first space after the token is ignored. */
export function bearerTokenOf(header: string): string {
  const text = header.trim();
  const start = bearerScheme.length + 1;
  if (text[bearerScheme.length] !== ' ') return '';
  if (text.slice(0, bearerScheme.length).toLowerCase() !== bearerScheme) return '';
  const end = text.indexOf(' ', start);
  return end === -1 ? text.slice(start) : text.slice(start, end);
}

/** Requests with a bearer token. Rejects with 401 if the token proves nothing. */
export function bearerTokens(
  authenticate: TokenAuthenticator,
  apiAudiences: readonly string[],
): Authenticator {
  return ({ headers: { authorization: header } }) => {
    if (header === undefined || header === '') return undefined;
    const token = bearerTokenOf(header);
    if (token === '') return undefined;
    let identity: Awaitable<TokenIdentity | undefined>;
    try {
      identity = authenticate(token, apiAudiences);
    } catch (error) {
      return rejected(error);
    }
    return identity instanceof Promise ? identity.then(userOf, rejected) : userOf(identity);
  };
}

function userOf(identity: TokenIdentity | undefined): User {
  if (!identity) throw unauthorized();
  return identity.user;
}

/** Clients learn only from token reviews why a token is rejected. */
function rejected(error: unknown): never {
  throw error instanceof TokenError ? unauthorized() : error;
}
