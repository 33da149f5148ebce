/**
 * An API server in memory that serves all stored resources to a `MemoryApiClient`. Tests intercept
 * requests to inject errors or changes of other writers.
 */
import {
  applyJsonPatch,
  applyMergePatch,
  applyStrategicMergePatch,
  isJsonObject,
  type Json,
  mergeSchemaOf,
} from '@orch/apimachinery';
import { type Clock, dialect, systemClock } from '@orch/component';
import type { SubjectAccessReview, SubjectAccessReviewSpec } from '@orch/types/authorization/v1';
import { resources } from '../generated/resources.js';
import type { ApiObject } from '../objects.js';
import type { DeleteOptions } from '../rest/resource-client.js';
import type { KnownResource } from '../rest/resource-ref.js';
import type { QueryValue, RequestOptions } from '../rest/rest-types.js';
import { notFound, unsupported } from './api-errors.js';
import { discoveryDocument } from './memory-discovery.js';
import { scaled, scaleOf } from './memory-scale.js';
import { MemoryStore, type StoredObject } from './memory-store.js';
import { MemoryWatch, selectionOf } from './memory-watch.js';

export interface MemoryApiServerOptions {
  readonly clock?: Clock;
  readonly random?: () => number;
}

/** A request to an object, a collection, or a subresource. */
export interface MemoryRequest {
  readonly method: string;
  readonly resource: KnownResource<ApiObject>;
  /** '' for all namespaces and for cluster-scoped resources. */
  readonly namespace: string;
  /** '' for a collection. */
  readonly name: string;
  readonly subresource: string;
  readonly query: NonNullable<RequestOptions['query']>;
  readonly contentType: string;
  readonly body: unknown;
}

type Interceptor = (request: MemoryRequest) => void;

const allResources: readonly KnownResource<ApiObject>[] = Object.values(resources);

export class MemoryApiServer {
  readonly store: MemoryStore;
  /** Decides subject access reviews; denies all by default. */
  allows: (spec: SubjectAccessReviewSpec) => boolean = () => false;
  /** All requests except watches and reviews, oldest first. */
  readonly requests: MemoryRequest[] = [];
  /** Responses to GET requests of aggregated APIs, by path. */
  readonly served = new Map<string, () => unknown>();
  private readonly watches = new Set<MemoryWatch>();
  private readonly interceptors = new Set<Interceptor>();

  constructor(options: MemoryApiServerOptions = {}) {
    this.store = new MemoryStore(options.clock ?? systemClock, options.random ?? Math.random);
    this.store.seed(resources.namespaces, { metadata: { name: 'default' } });
  }

  /** Stores an object as if a client had created it, including its status. */
  seed<T extends ApiObject>(resource: KnownResource<T>, object: T): T {
    return this.typed<T>(this.store.seed(resource, object));
  }

  get<T extends ApiObject>(resource: KnownResource<T>, key: string): T | undefined {
    const [namespace = '', name = ''] = key.includes('/') ? key.split('/') : ['', key];
    const object = this.store.find(resource, namespace, name);
    return object && this.typed<T>(object);
  }

  list<T extends ApiObject>(resource: KnownResource<T>, namespace = ''): T[] {
    return this.store.list(resource, namespace).map((object) => this.typed<T>(object));
  }

  /** Changes a stored object as another writer would, including its status. */
  change<T extends ApiObject>(resource: KnownResource<T>, key: string, edit: (object: T) => T): T {
    const object = this.get(resource, key);
    if (!object) throw notFound(resource, key);
    return this.seed(resource, edit(object));
  }

  /**
   * Calls `act` before the next request of this method and resource. `act` may throw an `ApiError`
   * for the client, or change stored objects so that the request conflicts.
   */
  interceptNext(method: string, resource: KnownResource<ApiObject>, act: Interceptor): void {
    const interceptor: Interceptor = (request) => {
      if (request.method !== method || request.resource !== resource) return;
      this.interceptors.delete(interceptor);
      act(request);
    };
    this.interceptors.add(interceptor);
  }

  /** Ends all watches, as a server that restarts does. */
  breakWatches(): void {
    for (const watch of this.watches) watch.close();
  }

  /** Watch events that no client has read yet. */
  get undeliveredCount(): number {
    return [...this.watches].reduce((sum, watch) => sum + watch.pendingCount, 0);
  }

  /** The JSON body of the response to a request that is not a watch. Throws `ApiError`. */
  handle(method: string, path: string, options: RequestOptions = {}): unknown {
    const served = method === 'GET' ? this.served.get(path) : undefined;
    if (served) return served();
    const document = method === 'GET' ? discoveryDocument(path, allResources) : undefined;
    if (document) return document;
    if (method === 'POST' && path.endsWith('/subjectaccessreviews')) {
      const { spec } = options.body as SubjectAccessReview;
      return { spec, status: { allowed: this.allows(spec) } };
    }
    const request = this.parse(method, path, options);
    this.requests.push(request);
    for (const intercept of [...this.interceptors]) intercept(request);
    const response = this.perform(request, path);
    const isMetadata = options.headers?.accept?.includes('PartialObjectMetadata') ?? false;
    return isMetadata ? metadataOnly(response) : structuredClone(response);
  }

  /** Opens a watch. Throws `ApiError` for a compacted version on the first read. */
  watch(path: string, options: RequestOptions = {}): MemoryWatch {
    const { resource, namespace, query } = this.parse('GET', path, options);
    const isMetadata = options.headers?.accept?.includes('PartialObjectMetadata') ?? false;
    const watch = new MemoryWatch(this.store, {
      resource,
      namespace,
      isSelected: selectionOf(query),
      sinceVersion: Number(query.resourceVersion ?? 0),
      render: isMetadata ? metadataOnly : (object) => object,
      onClosed: () => this.watches.delete(watch),
    });
    this.watches.add(watch);
    return watch;
  }

  private perform(request: MemoryRequest, path: string): unknown {
    const { method, resource, namespace, name, subresource, query, body } = request;
    if (name === '') {
      if (method === 'GET') return this.page(resource, namespace, query);
      if (method === 'POST') return this.store.create(resource, namespace, objectOf(body));
      if (method === 'DELETE') return this.deleteCollection(request);
      throw unsupported(method, path);
    }
    switch (method) {
      case 'GET': {
        const object = this.store.get(resource, namespace, name);
        return subresource === 'scale' ? scaleOf(object) : object;
      }
      case 'PUT':
        if (subresource === 'scale') return this.replaceScale(request);
        return this.store.replace(resource, namespace, objectOf(body), subresource);
      case 'PATCH':
        return this.store.patch(
          resource,
          namespace,
          name,
          (object) => patched(request, object),
          subresource,
        );
      case 'DELETE':
        return this.store.delete(resource, namespace, name, deleteOptionsOf(body));
      default:
        throw unsupported(method, path);
    }
  }

  private replaceScale({ resource, namespace, name, body }: MemoryRequest): unknown {
    const object = this.store.get(resource, namespace, name);
    return scaleOf(this.store.replace(resource, namespace, scaled(object, objectOf(body))));
  }

  private page(
    resource: KnownResource<ApiObject>,
    namespace: string,
    query: Record<string, QueryValue>,
  ) {
    const isSelected = selectionOf(query);
    const all = this.store.list(resource, namespace).filter(isSelected);
    const start = Number(query.continue ?? 0);
    const end = query.limit ? start + Number(query.limit) : all.length;
    const remainingItemCount = all.length - end;
    return {
      kind: `${resource.kind}List`,
      apiVersion: dialect().apiVersion(resource.group, resource.version),
      metadata: {
        resourceVersion: String(this.store.version),
        ...(remainingItemCount > 0 && { continue: String(end), remainingItemCount }),
      },
      items: all.slice(start, end),
    };
  }

  private deleteCollection({ resource, namespace, query, body }: MemoryRequest) {
    for (const { metadata } of this.store.list(resource, namespace).filter(selectionOf(query))) {
      const { namespace: parent = '', name = '' } = metadata;
      this.store.delete(resource, parent, name, deleteOptionsOf(body));
    }
    return { kind: 'Status', status: 'Success' };
  }

  private parse(method: string, path: string, options: RequestOptions): MemoryRequest {
    const segments = path.split('/').slice(1).map(decodeURIComponent);
    const isCore = segments[0] === 'api';
    const group = isCore ? '' : (segments[1] ?? '');
    const rest = segments.slice(isCore ? 2 : 3);
    const isNamespace = rest.length === 1 || ['status', 'finalize'].includes(rest[2] ?? '');
    const isScoped = rest[0] === 'namespaces' && rest.length > 2 && !isNamespace;
    const [plural = '', name = '', subresource = ''] = isScoped ? rest.slice(2) : rest;
    const resource = allResources.find(
      (one) => dialect().group(one.group) === group && one.plural === plural,
    );
    if (!resource) throw notFound({ plural }, path);
    return {
      method,
      resource,
      namespace: isScoped ? (rest[1] ?? '') : '',
      name,
      subresource,
      query: options.query ?? {},
      contentType: options.headers?.['content-type'] ?? 'application/json',
      body: options.body,
    };
  }

  /** Every resource states the type of its objects. */
  private typed<T extends ApiObject>(object: StoredObject): T {
    return structuredClone(object) as ApiObject as T;
  }
}

function objectOf(body: unknown): ApiObject {
  if (typeof body !== 'object' || body === null) throw new TypeError('the request has no object');
  return structuredClone(body);
}

function deleteOptionsOf(body: unknown): DeleteOptions {
  return typeof body === 'object' && body !== null ? body : {};
}

function metadataOnly(response: unknown): ApiObject {
  const { items, metadata } = response as { items?: unknown[]; metadata?: ApiObject['metadata'] };
  const apiVersion = `${dialect().metaGroup}/v1`;
  if (!items) return { apiVersion, kind: 'PartialObjectMetadata', ...(metadata && { metadata }) };
  const kind = 'PartialObjectMetadataList';
  return Object.assign({ apiVersion, kind, metadata }, { items: items.map(metadataOnly) });
}

function patched(request: MemoryRequest, object: StoredObject): ApiObject {
  const document = JSON.parse(JSON.stringify(object)) as Json;
  const patch = JSON.parse(JSON.stringify(request.body)) as Json;
  const result = applyPatch(request, document, patch);
  return result as ApiObject;
}

function applyPatch({ contentType, resource }: MemoryRequest, document: Json, patch: Json): Json {
  if (contentType.includes('json-patch')) return applyJsonPatch(document, patch);
  if (contentType.includes('strategic')) {
    if (!isJsonObject(document) || !isJsonObject(patch)) throw new TypeError('not an object');
    const { group, version, kind } = resource;
    return applyStrategicMergePatch(document, patch, mergeSchemaOf(`${group}/${version}.${kind}`));
  }
  if (contentType.includes('merge-patch')) return applyMergePatch(document, patch);
  throw unsupported('PATCH', contentType);
}
