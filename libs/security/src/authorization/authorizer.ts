/**
 * May this user make this request? An authorizer decides by one kind of rules; `unionOfAuthorizers`
 * combines several in order. A new one is a file with a function of this type and an entry in the
 * list that the server builds.
 */
import { forbidden } from '@orch/apimachinery';
import { type Awaitable, firstAccepted } from '@orch/component';
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
 * Fails with AuthorizationError if the authorizer fails, and another may decide; with another error
 * if the rules cannot be read now. It is on the path of every request: returns a promise only if it
 * has to wait.
 */
export type Authorizer = (attributes: Attributes) => Awaitable<Decision>;

export const allow: Decision = { verdict: 'allow', reason: '' };
export const deny: Decision = { verdict: 'deny', reason: '' };
export const noOpinion: Decision = { verdict: 'no opinion', reason: '' };

/** Allows nothing. */
export const noAuthorizer: Authorizer = () => noOpinion;

/**
 * The first decision that allows or denies; without one, no opinion with the reasons of all.
 * Fails with AuthorizationError if an authorizer failed and no other allowed or denied.
 */
export function unionOfAuthorizers(authorizers: readonly Authorizer[]): Authorizer {
  return firstAccepted(authorizers, {
    accepts: ({ verdict }) => verdict !== 'no opinion',
    passes: (error) => error instanceof AuthorizationError && !error.isDenial,
    otherwise: undecided,
  });
}

function undecided(decisions: readonly Decision[], errors: readonly unknown[]): Decision {
  const failures = errors.map((error) => (error as AuthorizationError).message);
  if (failures.length === 1) throw new AuthorizationError(failures[0]!);
  if (failures.length > 1) throw new AuthorizationError(`[${failures.join(', ')}]`);
  const reasons = decisions.map(({ reason }) => reason).filter((reason) => reason !== '');
  return reasons.length === 0 ? noOpinion : { ...noOpinion, reason: reasons.join('\n') };
}

/** As `authorize`; a user without a name may do nothing. */
export function refusingUnnamed(authorize: Authorizer): Authorizer {
  return (attributes) => (attributes.user.name === '' ? deny : authorize(attributes));
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
