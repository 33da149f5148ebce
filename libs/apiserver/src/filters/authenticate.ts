/** Finds the user of the request. Rejects with 401. */

import { unauthorized } from '@orch/apimachinery';
import type { HistogramSeries } from '@orch/component';
import { type Authenticator, anonymousUser, type User } from '@orch/security';
import type { RawRequest, RequestContext } from '../http/request-context.js';
import type { Filter, Next } from './filter.js';

export interface AuthenticationDependencies {
  readonly authenticate: Authenticator;
  /** Called for each request of a user, the anonymous one excluded. */
  readonly onAuthenticated: (request: RawRequest) => void;
}

/** `durations`: of authentication, in seconds. */
export function authenticate(
  { authenticate: userOf, onAuthenticated }: AuthenticationDependencies,
  durations: HistogramSeries,
): Filter {
  const identify = (context: RequestContext, user: User | undefined) => {
    if (!user) throw unauthorized();
    context.user = user;
    context.isAuthenticated = true;
    if (user !== anonymousUser) onAuthenticated(context.request);
    durations.observe((context.options.clock.monotonicMs() - context.startMs) / 1_000);
  };
  const nextAfter = async (
    user: Promise<User | undefined>,
    context: RequestContext,
    next: Next,
  ) => {
    identify(context, await user);
    await next(context);
  };
  return (next) => (context) => {
    const user = userOf(context.request);
    if (user instanceof Promise) return nextAfter(user, context, next);
    identify(context, user);
    return next(context);
  };
}
