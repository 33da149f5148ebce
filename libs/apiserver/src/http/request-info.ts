/**
 * The attributes of a request, read from its method and path alone: verb, group, version, resource,
 * namespace, name and subresource. Invariant: equivalent paths yield the same info. Whether the
 * resource exists is decided by the registry.
 */
import { badRequest } from '@orch/apimachinery';

export type RequestVerb =
  | 'get'
  | 'list'
  | 'watch'
  | 'create'
  | 'update'
  | 'patch'
  | 'delete'
  | 'deletecollection';

export interface RequestInfo {
  /** False for discovery, health and every other path that names no resource. */
  readonly isResource: boolean;
  /**
   * The lower-case method for paths that name no resource. Empty for a method that resources do not
   * support.
   */
  readonly verb: RequestVerb | string;
  /** The path without its query, as sent. */
  readonly path: string;
  /** API group on the wire, empty for the core group. */
  readonly group: string;
  readonly version: string;
  readonly namespace: string;
  readonly resource: string;
  readonly subresource: string;
  readonly name: string;
  /** Path segments below the subresource (proxies). */
  readonly rest: readonly string[];
  /** Requested through the older `/watch/` path. */
  readonly watchPath: boolean;
}

const verbsOfMethods: Readonly<Record<string, RequestVerb>> = {
  GET: 'get',
  HEAD: 'get',
  POST: 'create',
  PUT: 'update',
  PATCH: 'patch',
  DELETE: 'delete',
};

const namespaceSubresources = new Set(['status', 'finalize']);
const noSegments: readonly string[] = [];

/** The info of a request whose path has not been read, or cannot be. */
export const unparsedRequest: RequestInfo = nonResource('', '');

function nonResource(method: string, path: string): RequestInfo {
  return {
    isResource: false,
    verb: method.toLowerCase(),
    path,
    group: '',
    version: '',
    namespace: '',
    resource: '',
    subresource: '',
    name: '',
    rest: noSegments,
    watchPath: false,
  };
}

/** The segments of `path` up to `end`. Several times faster than slicing and `split`. */
function split(path: string, end: number): string[] {
  const segments: string[] = [];
  for (let from = 1; ; ) {
    const slash = path.indexOf('/', from);
    if (slash < 0 || slash >= end) {
      segments.push(path.slice(from, end));
      return segments;
    }
    segments.push(path.slice(from, slash));
    from = slash + 1;
  }
}

function segmentsOf(path: string): string[] {
  const end = path.length > 1 && path.endsWith('/') ? path.length - 1 : path.length;
  const segments = split(path, end);
  if (!path.includes('%')) return segments;
  try {
    return segments.map(decodeURIComponent);
  } catch (error) {
    if (error instanceof URIError) throw badRequest(`malformed path ${path}`);
    throw error;
  }
}

/** Characters of a path that need no escape, although `encodeURIComponent` escapes them. */
const plainInPath = /%(?:24|26|2B|2C|3A|3B|3D|40)/g;

/**
 * The path with every escape decoded and encoded again, so that this server authorizes the same
 * segments that the aggregated one reads. `path` has no malformed escapes. Throws 400 for `.` and
 * `..` segments.
 */
export function normalizedPath(path: string): string {
  const segments = decodeURIComponent(path).split('/');
  if (segments.some((segment) => segment === '.' || segment === '..')) {
    throw badRequest(`the path ${path} must not have . or .. segments`);
  }
  return segments
    .map((segment) => encodeURIComponent(segment).replace(plainInPath, decodeURIComponent))
    .join('/');
}

/** Whether the shape of a request target names a resource. */
export function isResourceTarget(target: string): boolean {
  const mark = target.indexOf('?');
  const end = mark < 0 ? target.length : mark;
  let slashes = target.startsWith('/apis/') ? 2 : 1;
  if (slashes === 1 && !target.startsWith('/api/')) return false;
  let at = slashes === 2 ? 6 : 5;
  for (; slashes > 0; slashes -= 1) {
    at = target.indexOf('/', at) + 1;
    if (at === 0 || at >= end) return false;
  }
  return true;
}

/**
 * Parses `path` (no query). `watch`: the query's watch parameter, which applies to collections
 * only.
 */
export function parseRequestInfo(method: string, path: string, watch: boolean): RequestInfo {
  const segments = segmentsOf(path);
  let at: number;
  let group: string;
  let version: string;
  if (segments[0] === 'api' && segments.length > 2) {
    group = '';
    version = segments[1]!;
    at = 2;
  } else if (segments[0] === 'apis' && segments.length > 3) {
    group = segments[1]!;
    version = segments[2]!;
    at = 3;
  } else {
    return nonResource(method, path);
  }
  const watchPath = segments[at] === 'watch' && segments.length > at + 1;
  if (watchPath) at += 1;

  let namespace = '';
  if (segments[at] === 'namespaces' && segments.length > at + 1) {
    namespace = segments[at + 1]!;
    const below = segments[at + 2];
    if (below !== undefined && !namespaceSubresources.has(below)) at += 2;
  }
  const resource = segments[at] ?? '';
  const name = segments[at + 1] ?? '';
  const subresource = segments[at + 2] ?? '';
  // The target of a proxy may support further methods.
  const proxied = subresource === 'proxy' ? method.toLowerCase() : undefined;
  let verb: string = verbsOfMethods[method] ?? proxied ?? '';
  if (watchPath && verb === 'get') verb = 'watch';
  else if (name === '') {
    if (verb === 'get') verb = watch ? 'watch' : 'list';
    else if (verb === 'delete') verb = 'deletecollection';
  }
  return {
    isResource: true,
    verb,
    path,
    group,
    version,
    namespace,
    resource,
    subresource,
    name,
    rest: segments.length > at + 3 ? segments.slice(at + 3) : noSegments,
    watchPath,
  };
}
