/**
 * The labels of a request in metrics. Every value is from a fixed set, so that clients cannot add
 * series.
 */
import type { Query } from '../http/query.js';
import type { RequestInfo } from '../http/request-info.js';

const verbNames: Readonly<Record<string, string>> = {
  create: 'POST',
  update: 'PUT',
  get: 'GET',
  head: 'GET',
  list: 'LIST',
  watch: 'WATCH',
  patch: 'PATCH',
  delete: 'DELETE',
  deletecollection: 'DELETECOLLECTION',
  post: 'POST',
  put: 'PUT',
};

/** Subresources whose requests are connections, whatever their method. */
const connecting: ReadonlySet<string> = new Set(['attach', 'exec', 'portforward', 'proxy']);

const applyMediaType = 'application/apply-patch+yaml';

export function verbLabel(
  { verb, subresource }: RequestInfo,
  contentType: string | undefined,
): string {
  if (subresource !== '' && connecting.has(subresource)) return 'CONNECT';
  if (verb === 'patch' && contentType?.startsWith(applyMediaType)) return 'APPLY';
  return verbNames[verb] ?? 'other';
}

export function scopeLabel({ isResource, name, namespace }: RequestInfo): string {
  if (!isResource) return '';
  if (name !== '') return 'resource';
  return namespace !== '' ? 'namespace' : 'cluster';
}

export function dryRunLabel(query: Query): string {
  if (!query.has('dryRun')) return '';
  return query.all('dryRun').every((value) => value === 'All') ? 'All' : 'invalid';
}
