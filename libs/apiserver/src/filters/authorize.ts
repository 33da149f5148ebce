/**
 * Rejects a request that its user may not make with 403, and with 500 if an authorizer failed and
 * no other allowed it.
 */
import type { HistogramSeries } from '@orch/component';
import { AuthorizationError, type Authorizer, type Decision, enforce } from '@orch/security';
import { authorizedInfo } from '../request/authorized-info.js';
import { sendErrorText } from '../response/error-text.js';
import type { Filter } from './filter.js';

/** `durations`: of authorization, in seconds. */
export function authorize(authorizer: Authorizer, durations: HistogramSeries): Filter {
  return async (context, next) => {
    const { clock } = context.options;
    context.authorizer = authorizer;
    const startMs = clock.monotonicMs();
    const attributes = { user: context.user, info: authorizedInfo(context) };
    let decision: Decision;
    try {
      decision = await authorizer(attributes);
    } catch (error) {
      if (!(error instanceof AuthorizationError)) throw error;
      return sendErrorText(context, error.message);
    }
    context.audit?.authorized(decision);
    enforce(decision, attributes);
    durations.observe((clock.monotonicMs() - startMs) / 1_000);
    await next(context);
  };
}
