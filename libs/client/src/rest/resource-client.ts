/** A typed client of one resource in one namespace, or in all namespaces. */
import type { ApiList, ApiObject, WatchEvent } from '../objects.js';
import type { ResourceRef } from './resource-ref.js';
import type { QueryValue, RequestOptions, StreamResponse } from './rest-types.js';

export type CallOptions = Pick<RequestOptions, 'timeoutMs' | 'sendOnce' | 'yieldMs' | 'signal'>;

export interface GetOptions extends CallOptions {
  resourceVersion?: string;
}

export interface ListOptions extends CallOptions {
  labelSelector?: string;
  fieldSelector?: string;
  limit?: number;
  continue?: string;
  resourceVersion?: string;
  resourceVersionMatch?: 'Exact' | 'NotOlderThan';
}

export interface WatchOptions {
  labelSelector?: string;
  fieldSelector?: string;
  resourceVersion?: string;
  allowWatchBookmarks?: boolean;
  /** The server ends the watch after this long. */
  timeoutSeconds?: number;
  signal?: AbortSignal;
}

export interface WriteOptions extends CallOptions {
  dryRun?: boolean;
  fieldManager?: string;
}

export type PatchType = 'json' | 'merge' | 'strategic' | 'apply';

export interface PatchOptions extends WriteOptions {
  type: PatchType;
  /** For `apply`: acquires fields that other managers own. */
  force?: boolean;
}

export interface DeleteOptions extends CallOptions {
  gracePeriodSeconds?: number;
  propagationPolicy?: 'Orphan' | 'Background' | 'Foreground';
  preconditions?: { uid?: string; resourceVersion?: string };
  dryRun?: boolean;
}

export interface SubresourceClient<S> {
  get(options?: CallOptions): Promise<S>;
  create<R = S>(body: S, options?: WriteOptions): Promise<R>;
  replace(body: S, options?: WriteOptions): Promise<S>;
  patch(body: unknown, options: PatchOptions): Promise<S>;
  /** Streams the raw response, such as the log of a pod. */
  stream(
    query?: Record<string, QueryValue>,
    options?: Pick<RequestOptions, 'signal'>,
  ): Promise<StreamResponse>;
}

export interface ResourceClient<T extends ApiObject> {
  readonly resource: ResourceRef<T>;
  readonly namespace: string | undefined;
  get(name: string, options?: GetOptions): Promise<T>;
  /** One page. */
  list(options?: ListOptions): Promise<ApiList<T>>;
  /** All pages; restarts once without a continue token that has expired. */
  listAll(options?: Omit<ListOptions, 'continue'>): Promise<ApiList<T>>;
  create(object: T, options?: WriteOptions): Promise<T>;
  /** As `create`, for callers that do not need the created object: the response is not parsed. */
  createOnly(object: T, options?: WriteOptions): Promise<void>;
  /** PUTs the whole object. With a resourceVersion, fails with a conflict if it has changed. */
  replace(object: T, options?: WriteOptions): Promise<T>;
  replaceStatus(object: T, options?: WriteOptions): Promise<T>;
  patch(name: string, body: unknown, options: PatchOptions): Promise<T>;
  patchStatus(name: string, body: unknown, options: PatchOptions): Promise<T>;
  /** Returns the object if it is still terminating, otherwise a Status. */
  delete(name: string, options?: DeleteOptions): Promise<ApiObject>;
  deleteCollection(selection?: ListOptions, options?: DeleteOptions): Promise<void>;
  /** `subresource<Binding>(name, 'binding')`, `'scale'`, `'eviction'`, `'log'`, `'status'`, ... */
  subresource<S>(name: string, subresource: string): SubresourceClient<S>;
  /**
   * Ends when the server ends it or `signal` aborts. Throws `ApiError` (410: list again) and
   * `TransportError`.
   */
  watch(options?: WatchOptions): AsyncIterable<WatchEvent<T>>;
}
