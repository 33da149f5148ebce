/** Routing of requests on custom resources, whose errors differ from those of built-in kinds. */
import { methodNotSupported, notFound, StatusError } from '@orch/apimachinery';
import type { ServedResource } from '@orch/registry';
import type { RequestInfo } from '../http/request-info.js';
import type { Handler } from './handler.js';
import type { Subresource } from './subresources.js';

/**
 * Undefined: the path does not exist. Throws 404 for an unknown subresource and 405 for an
 * unsupported verb. `byVerb`: the handlers of requests on objects themselves.
 */
export function customHandler(
  served: ServedResource,
  info: RequestInfo,
  byVerb: ReadonlyMap<string, Handler>,
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
  const handler = byVerb.get(verb);
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
