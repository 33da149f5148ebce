/** An authenticator whose outcomes are recorded. */
import type { Awaitable, Clock } from '@orch/component';
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
  const ended = (result: AuthenticationResult, startMs: number) =>
    observer.ended(result, (clock.monotonicMs() - startMs) / 1_000);
  const succeeded = (user: User | undefined, startMs: number) => {
    if (user) observer.authenticated(user);
    ended(user ? 'success' : 'failure', startMs);
    return user;
  };
  const failed = (error: unknown, startMs: number): never => {
    ended('error', startMs);
    throw error;
  };
  return (request) => {
    const startMs = clock.monotonicMs();
    let user: Awaitable<User | undefined>;
    try {
      user = authenticate(request);
    } catch (error) {
      return failed(error, startMs);
    }
    if (!(user instanceof Promise)) return succeeded(user, startMs);
    return user.then(
      (found) => succeeded(found, startMs),
      (error) => failed(error, startMs),
    );
  };
}
