/**
 * Refuses requests that a proxy in front of the server may read differently, before any credential
 * is read: a second host or credential, a target that is no path, segments that step out of a path.
 * Node's parser has already refused requests whose end is ambiguous.
 */
import { badRequest } from '@orch/apimachinery';
import type { RequestContext } from '../http/request-context.js';
import type { RequestInfo } from '../http/request-info.js';
import type { Filter } from './filter.js';

export const refuseAmbiguous: Filter = (next) => (context) => {
  const problem = problemOf(context);
  if (problem === undefined) return next(context);
  const { response } = context;
  // The bytes that follow may belong to this request.
  if ('shouldKeepAlive' in response) response.shouldKeepAlive = false;
  return Promise.reject(badRequest(problem));
};

function problemOf({ request, info }: RequestContext): string | undefined {
  if (!info.path.startsWith('/')) return 'the request target must be a path';
  const { hostCount, authorizationCount } = headerCounts(request.rawHeaders);
  if (hostCount > 1) return 'too many Host headers';
  if (hostCount === 0 && request.httpVersion === '1.1') return 'missing required Host header';
  if (authorizationCount > 1) return 'too many Authorization headers';
  return hasTrick(info) ? `malformed path ${info.path}` : undefined;
}

/** `rawHeaders`: a name, its value, the next name, and so on. */
function headerCounts(rawHeaders: readonly string[]) {
  let hostCount = 0;
  let authorizationCount = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at]!;
    // Few names have these lengths.
    if (name.length === 'host'.length) {
      if (name.toLowerCase() === 'host') hostCount += 1;
    } else if (name.length === 'authorization'.length) {
      if (name.toLowerCase() === 'authorization') authorizationCount += 1;
    }
  }
  return { hostCount, authorizationCount };
}

/** Whether a segment is `.` or `..`, or has a slash or control character, as sent or encoded. */
function hasTrick({ path, subresource, rest }: RequestInfo): boolean {
  if (!path.includes('/.') && !path.includes('%')) return false;
  const segments = (path.endsWith('/') ? path.slice(0, -1) : path).split('/');
  // The rest of a proxied path is for the target.
  const ownCount = subresource === 'proxy' ? segments.length - rest.length : segments.length;
  return segments.slice(0, ownCount).some((segment) => isTrick(decodeURIComponent(segment)));
}

function isTrick(segment: string): boolean {
  return segment === '.' || segment === '..' || /[/\p{Cc}]/u.test(segment);
}
