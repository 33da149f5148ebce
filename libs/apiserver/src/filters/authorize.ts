/**
 * Rejects a request that its user may not make with 403, and with 500 if an authorizer failed and
 * no other allowed it.
 */
import type { Awaitable, HistogramSeries } from '@orch/component';
import {
  type Attributes,
  AuthorizationError,
  type Authorizer,
  type Decision,
  enforce,
} from '@orch/security';
import type { RequestContext } from '../http/request-context.js';
import { authorizedInfo } from '../request/authorized-info.js';
import { sendErrorText } from '../response/error-text.js';
import type { Filter, Next } from './filter.js';

/** `durations`: of authorization, in seconds. */
export function authorize(authorizer: Authorizer, durations: HistogramSeries): Filter {
  const decided = (
    { audit, options: { clock } }: RequestContext,
    attributes: Attributes,
    decision: Decision,
    startMs: number,
  ) => {
    audit?.authorized(decision);
    enforce(decision, attributes);
    durations.observe((clock.monotonicMs() - startMs) / 1_000);
  };
  const nextAfter = async (
    pending: Promise<Decision>,
    context: RequestContext,
    attributes: Attributes,
    startMs: number,
    next: Next,
  ) => {
    let decision: Decision;
    try {
      decision = await pending;
    } catch (error) {
      return failed(context, error);
    }
    decided(context, attributes, decision, startMs);
    await next(context);
  };
  return (next) => (context) => {
    context.authorizer = authorizer;
    const startMs = context.options.clock.monotonicMs();
    const attributes = { user: context.user, info: authorizedInfo(context) };
    let decision: Awaitable<Decision>;
    try {
      decision = authorizer(attributes);
    } catch (error) {
      return failed(context, error);
    }
    if (decision instanceof Promise) {
      return nextAfter(decision, context, attributes, startMs, next);
    }
    decided(context, attributes, decision, startMs);
    return next(context);
  };
}

async function failed(context: RequestContext, error: unknown): Promise<void> {
  if (!(error instanceof AuthorizationError)) throw error;
  sendErrorText(context, error.message);
}
