/**
 * May this user make this request? An authorizer decides by one kind of rules; `unionOfAuthorizers`
 * combines several in order. A new one is a file with a function of this type and an entry in the
 * list that the server builds.
 */
import { forbidden } from '@orch/apimachinery';
import type { Attributes } from './attributes.js';

export interface Decision {
  readonly verdict: 'allow' | 'deny' | 'no opinion';
  /** For the client and the audit log; empty if there is none. */
  readonly reason: string;
}

/** An authorizer failed; the message says why and may be shown to clients. */
export class AuthorizationError extends Error {
  override readonly name = 'AuthorizationError';

  /** `isDenial`: no later authorizer may allow the request. */
  constructor(
    message: string,
    readonly isDenial = false,
  ) {
    super(message);
  }
}

/**
 * Rejects with AuthorizationError if the authorizer fails, and another may decide; with another
 * error if the rules cannot be read now.
 */
export type Authorizer = (attributes: Attributes) => Promise<Decision>;

export const allow: Decision = { verdict: 'allow', reason: '' };
export const deny: Decision = { verdict: 'deny', reason: '' };
export const noOpinion: Decision = { verdict: 'no opinion', reason: '' };

/** Allows nothing. */
export const noAuthorizer: Authorizer = async () => noOpinion;

/**
 * The first decision that allows or denies; without one, no opinion with the reasons of all.
 * Rejects with AuthorizationError if an authorizer failed and no other allowed or denied.
 */
export function unionOfAuthorizers(authorizers: readonly Authorizer[]): Authorizer {
  return async (attributes) => {
    const reasons: string[] = [];
    const failures: string[] = [];
    for (const authorize of authorizers) {
      try {
        const decision = await authorize(attributes);
        if (decision.verdict !== 'no opinion') return decision;
        if (decision.reason !== '') reasons.push(decision.reason);
      } catch (error) {
        if (!(error instanceof AuthorizationError) || error.isDenial) throw error;
        failures.push(error.message);
      }
    }
    if (failures.length === 1) throw new AuthorizationError(failures[0]!);
    if (failures.length > 1) throw new AuthorizationError(`[${failures.join(', ')}]`);
    return reasons.length === 0 ? noOpinion : { ...noOpinion, reason: reasons.join('\n') };
  };
}

/** As `authorize`; a user without a name may do nothing. */
export function refusingUnnamed(authorize: Authorizer): Authorizer {
  return (attributes) =>
    attributes.user.name === '' ? Promise.resolve(deny) : authorize(attributes);
}

/** Throws 403 unless the decision allows the request. */
export function enforce({ verdict, reason }: Decision, { user, info }: Attributes): void {
  if (verdict === 'allow') return;
  const { verb, path, group, resource, subresource, namespace, name } = info;
  throw forbidden(
    {
      user: user.name,
      verb,
      path,
      ...(info.isResource && { resource: { group, resource, subresource, namespace, name } }),
    },
    reason,
  );
}
