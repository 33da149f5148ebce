/** Lets a request act as another user if its own user may impersonate that user. */
import {
  type Attributes,
  AuthorizationError,
  type Authorizer,
  type Decision,
  enforce,
  type Impersonation,
  impersonationOf,
} from '@orch/security';
import type { RequestContext } from '../http/request-context.js';
import type { Filter, Next } from './filter.js';

export function impersonate(authorizer: Authorizer): Filter {
  return (next) => (context) => {
    const impersonation = impersonationOf(context.request);
    return impersonation ? nextAs(impersonation, authorizer, context, next) : next(context);
  };
}

/** Rejects with 403 if the user of the request may not act as the other. */
async function nextAs(
  impersonation: Impersonation,
  authorizer: Authorizer,
  context: RequestContext,
  next: Next,
): Promise<void> {
  for (const info of impersonation.required) {
    const attributes = { user: context.user, info };
    const decision = await decide(authorizer, attributes);
    enforce(decision, attributes);
  }
  context.user = impersonation.user;
  context.audit?.impersonated(impersonation.user);
  await next(context);
}

/** An authorizer that fails does not allow an impersonation. */
async function decide(authorizer: Authorizer, attributes: Attributes): Promise<Decision> {
  try {
    return await authorizer(attributes);
  } catch (error) {
    if (error instanceof AuthorizationError) return { verdict: 'no opinion', reason: '' };
    throw error;
  }
}
