/**
 * Who makes a request. An authenticator knows one kind of credentials; `unionOf` combines several
 * in order. A new one is a file with a function of this type and an entry in the list that the
 * server builds.
 */
import { StatusError } from '@orch/apimachinery';
import type { AuthenticationRequest } from './authentication-request.js';
import { anonymousUser, type User } from './user.js';

/**
 * The user that the credentials of the request prove. Undefined: the request has no credentials of
 * this kind. Rejects with 401 if it has some that are not valid, with StoreError if they cannot be
 * checked.
 */
export type Authenticator = (request: AuthenticationRequest) => Promise<User | undefined>;

/**
 * Returns the first user that an authenticator finds. Credentials that are invalid for one are
 * passed to the others; if no user is found, the first rejection is thrown.
 */
export function unionOf(authenticators: readonly Authenticator[]): Authenticator {
  return async (request) => {
    let rejection: StatusError | undefined;
    for (const authenticate of authenticators) {
      try {
        const user = await authenticate(request);
        if (user) return user;
      } catch (error) {
        if (!(error instanceof StatusError)) throw error;
        rejection ??= error;
      }
    }
    if (rejection) throw rejection;
    return undefined;
  };
}

/** As `authenticate`; requests without credentials are of the anonymous user. */
export function orAnonymous(authenticate: Authenticator): Authenticator {
  return async (request) => (await authenticate(request)) ?? anonymousUser;
}
