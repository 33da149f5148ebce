/**
 * The attributes of a request that authorization decides on: those of its path, and for a list or
 * watch of one object by field selector the name of that object.
 */
import { checkPathSegment, parseFieldSelector, SelectorError } from '@orch/apimachinery';
import type { RequestContext } from '../http/request-context.js';
import type { RequestInfo } from '../http/request-info.js';

export function authorizedInfo({ info, query }: RequestContext): RequestInfo {
  const isCollection = info.name === '' && (info.verb === 'list' || info.verb === 'watch');
  if (!isCollection || !query.has('fieldSelector')) return info;
  const name = selectedName(query.get('fieldSelector'));
  return name === undefined || checkPathSegment(name).length > 0 ? info : { ...info, name };
}

/** Undefined: the selector may select several objects, or is not valid, which is reported later. */
function selectedName(selector: string): string | undefined {
  try {
    return parseFieldSelector(selector).exactValue('metadata.name');
  } catch (error) {
    if (error instanceof SelectorError) return undefined;
    throw error;
  }
}
