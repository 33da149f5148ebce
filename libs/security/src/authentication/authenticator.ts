/**
 * Who makes a request. An authenticator knows one kind of credentials; `unionOf` combines several
 * in order. A new one is a file with a function of this type and an entry in the list that the
 * server builds.
 */
import { StatusError } from '@orch/apimachinery';
import { type Awaitable, firstAccepted } from '@orch/component';
import type { AuthenticationRequest } from './authentication-request.js';
import { anonymousUser, type User } from './user.js';

/**
 * The user that the credentials of the request prove. Undefined: the request has no credentials of
 * this kind. Fails with 401 if it has some that are not valid, with StoreError if they cannot be
 * checked. It is on the path of every request: returns a promise only if it has to wait.
 */
export type Authenticator = (request: AuthenticationRequest) => Awaitable<User | undefined>;

/**
 * Returns the first user that an authenticator finds. Credentials that are invalid for one are
 * passed to the others; if no user is found, the first rejection is thrown.
 */
export function unionOf(authenticators: readonly Authenticator[]): Authenticator {
  return firstAccepted(authenticators, {
    accepts: (user) => user !== undefined,
    passes: (error) => error instanceof StatusError,
    otherwise(_users, [rejection]) {
      if (rejection) throw rejection;
      return undefined;
    },
  });
}

/** As `authenticate`; requests without credentials are of the anonymous user. */
export function orAnonymous(authenticate: Authenticator): Authenticator {
  return (request) => {
    const user = authenticate(request);
    if (user instanceof Promise) return user.then((found) => found ?? anonymousUser);
    return user ?? anonymousUser;
  };
}
