/** A replace or an apply of an object that does not exist creates it: that needs another verb. */
import { forbiddenObject } from '@orch/apimachinery';
import type { RequestContext } from '../http/request-context.js';

/** Throws 403 if the user may not create the object that the path names. */
export async function requireCreate({ authorizer, user, info }: RequestContext): Promise<void> {
  const { verdict, reason } = await authorizer({ user, info: { ...info, verb: 'create' } });
  if (verdict !== 'allow') {
    throw forbiddenObject({ group: info.group, resource: info.resource }, info.name, reason);
  }
}
