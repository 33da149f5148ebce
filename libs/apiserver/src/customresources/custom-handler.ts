/** Which requests on a custom resource are answered, and with what those are that are not. */
import { methodNotSupported, notFound, StatusError } from '@orch/apimachinery';
import type { Handler } from '../handlers/call.js';
import type { Subresource } from '../handlers/subresources.js';
import type { ServedResource } from '../registry/resource.js';
import type { RequestInfo } from '../request/request-info.js';

/**
 * Undefined: there is nothing under the path. Throws 404 for what a resource does not have below it and
 * 405 for what cannot be done with it. `byVerb`: for requests on objects themselves.
 */
export function customHandler(
  served: ServedResource,
  info: RequestInfo,
  byVerb: Readonly<Record<string, Handler>>,
  subresource: Subresource | undefined,
): Handler | undefined {
  const { definition, groupResource } = served;
  const { verb, namespace, name } = info;
  const isEverywhere = definition.namespaced && (verb === 'list' || verb === 'watch');
  if (definition.namespaced !== (namespace !== '') && !isEverywhere) return undefined;
  if (info.subresource !== '') {
    if (!subresource || info.rest.length > 0) throw notFound(groupResource, name);
    if (!subresource.verbs.includes(verb)) throw methodNotSupported(groupResource, verb);
    return subresource.handle;
  }
  const named = verb === 'get' || verb === 'update' || verb === 'patch' || verb === 'delete';
  const handler = byVerb[verb];
  const fits = verb === 'watch' || named === (name !== '');
  if (!handler || !fits) throw methodNotSupported(groupResource, verb);
  if (verb === 'create' && definition.custom?.isTerminating) throw terminating(served);
  return handler;
}

function terminating({ groupResource }: ServedResource): StatusError {
  const { group, resource } = groupResource;
  return new StatusError({
    code: 405,
    reason: 'MethodNotAllowed',
    message: 'create not allowed while custom resource definition is terminating',
    details: { group, kind: resource },
  });
}
