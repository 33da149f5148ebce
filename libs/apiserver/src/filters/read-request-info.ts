/**
 * Reads what the request requests from its method and target, and finds the resource and its
 * metrics.
 */
import { badRequest, quote } from '@orch/apimachinery';
import { parseDuration, ValueError } from '@orch/component';
import type { ServedResource } from '@orch/registry';
import { splitTarget } from '../http/query.js';
import type { RequestContext } from '../http/request-context.js';
import { normalizedPath, parseRequestInfo, type RequestInfo } from '../http/request-info.js';
import { dryRunLabel, scopeLabel, verbLabel } from '../observability/request-labels.js';
import type { RequestMetrics } from '../observability/request-metrics.js';
import type { Filter } from './filter.js';

/** The part of the table of resources that routing needs. */
export interface ResourceLookup {
  find(group: string, version: string, resource: string): ServedResource | undefined;
}

/** Finds the handlers of the group versions that other servers serve. */
export interface AggregatedLookup {
  handlerOf(
    group: string,
    version: string,
  ): ((context: RequestContext) => Promise<void>) | undefined;
}

/** `hasSubresource`: whether a resource has the subresource, so that metrics name it. */
export function readRequestInfo(
  table: ResourceLookup,
  aggregated: AggregatedLookup,
  hasSubresource: (served: ServedResource, subresource: string) => boolean,
  metrics: RequestMetrics,
): Filter {
  const readInfo = (context: RequestContext) => {
    const { request } = context;
    const { path, query } = splitTarget(request.url ?? '/');
    const method = request.method ?? 'GET';
    const isWatch = query.flag('watch');
    let info = parseRequestInfo(method, path, isWatch);
    const handle = aggregatedHandler(aggregated, info);
    if (handle) {
      if (/[%.]/.test(path)) info = parseRequestInfo(method, normalizedPath(path), isWatch);
      context.handle = handle;
    }
    const { isResource, group, version, resource, subresource } = info;
    const served = isResource && !handle ? table.find(group, version, resource) : undefined;
    const isKnown = subresource !== '' && served && hasSubresource(served, subresource);
    context.query = query;
    context.info = info;
    context.served = served;
    context.isLongRunning =
      isLongRunning(info) || (handle !== undefined && Boolean(context.upgrade));
    context.recorder = metrics.route(
      served,
      verbLabel(info, request.headers['content-type']),
      served ? scopeLabel(info) : '',
      isKnown ? subresource : '',
      dryRunLabel(query),
    );
    const timeoutMs = context.isLongRunning ? undefined : clientTimeout(context);
    if (timeoutMs !== undefined) context.setClientTimeout(timeoutMs);
  };
  // Async, so that a malformed path rejects.
  return (next) => (context) => {
    readInfo(context);
    return next(context);
  };
}

/** Undefined: the client sets no limit, or none below that of the server. Throws 400. */
function clientTimeout({ query, options }: RequestContext): number | undefined {
  const text = query.get('timeout');
  if (text === '') return undefined;
  try {
    const timeoutMs = parseDuration(text);
    return timeoutMs > 0 && timeoutMs < options.requestTimeoutMs ? timeoutMs : undefined;
  } catch (error) {
    if (!(error instanceof ValueError)) throw error;
    throw badRequest(
      `invalid timeout specified in the request URL - time: invalid duration ${quote(text)}`,
    );
  }
}

/** The handler of the group version that the path names, if another server serves it. */
function aggregatedHandler(
  aggregated: AggregatedLookup,
  info: RequestInfo,
): RequestContext['handle'] {
  if (info.isResource) return aggregated.handlerOf(info.group, info.version);
  const discovery = /^\/(?:api|apis\/([^/]+))\/([^/]+)\/?$/.exec(info.path);
  return discovery ? aggregated.handlerOf(discovery[1] ?? '', discovery[2]!) : undefined;
}

const longRunningSubresources: ReadonlySet<string> = new Set([
  'attach',
  'exec',
  'log',
  'portforward',
  'proxy',
]);

function isLongRunning({ verb, subresource }: RequestInfo): boolean {
  return verb === 'watch' || (subresource !== '' && longRunningSubresources.has(subresource));
}
