/** Finds the user of the request. Rejects with 401. */

import { unauthorized } from '@orch/apimachinery';
import type { HistogramSeries } from '@orch/component';
import { type Authenticator, anonymousUser } from '@orch/security';
import type { RawRequest } from '../http/request-context.js';
import type { Filter } from './filter.js';

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
  return async (context, next) => {
    const { options, startMs } = context;
    const user = await userOf(context.request);
    if (!user) throw unauthorized();
    context.user = user;
    context.isAuthenticated = true;
    if (user !== anonymousUser) onAuthenticated(context.request);
    durations.observe((options.clock.monotonicMs() - startMs) / 1_000);
    await next(context);
  };
}
