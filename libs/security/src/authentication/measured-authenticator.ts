/** An authenticator whose outcomes are recorded. */
import type { Clock } from '@orch/component';
import type { Authenticator } from './authenticator.js';
import type { User } from './user.js';

/** `failure`: no user; `error`: credentials that are not valid, or cannot be checked now. */
export type AuthenticationResult = 'success' | 'failure' | 'error';

/** Called synchronously for every request. */
export interface AuthenticationObserver {
  ended(result: AuthenticationResult, seconds: number): void;
  authenticated(user: User): void;
}

export function measured(
  authenticate: Authenticator,
  clock: Clock,
  observer: AuthenticationObserver,
): Authenticator {
  return async (request) => {
    const startMs = clock.monotonicMs();
    let result: AuthenticationResult = 'error';
    try {
      const user = await authenticate(request);
      result = user ? 'success' : 'failure';
      if (user) observer.authenticated(user);
      return user;
    } finally {
      observer.ended(result, (clock.monotonicMs() - startMs) / 1_000);
    }
  };
}
