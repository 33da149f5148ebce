/** The verbs of one resource type as requests. */
import { dialect } from '@orch/component';
import { limits } from '../limits.js';
import type { ApiList, ApiObject, WatchEvent } from '../objects.js';
import { isGone } from './api-error.js';
import type {
  CallOptions,
  DeleteOptions,
  GetOptions,
  ListOptions,
  PatchOptions,
  ResourceClient,
  SubresourceClient,
  WatchOptions,
  WriteOptions,
} from './resource-client.js';
import type { KnownResource, ResourceRef } from './resource-ref.js';
import type {
  QueryValue,
  Requester,
  RequestOptions,
  RestResponse,
  StreamResponse,
} from './rest-types.js';
import { decodeWatch } from './watch-decoder.js';

const patchMediaTypes = {
  json: 'application/json-patch+json',
  merge: 'application/merge-patch+json',
  strategic: 'application/strategic-merge-patch+json',
  apply: 'application/apply-patch+yaml',
} as const;

/** Whole objects, or their metadata alone (`PartialObjectMetadata`). */
export type ObjectView = 'full' | 'metadata';

function acceptOf(view: ObjectView, isList: boolean): string {
  if (view === 'full') return 'application/json';
  const kind = isList ? 'PartialObjectMetadataList' : 'PartialObjectMetadata';
  return `application/json;as=${kind};g=${dialect().metaGroup};v=v1,application/json`;
}

/** The path of a collection; without `namespace`, of the collection over all namespaces. */
export function collectionPath(resource: ResourceRef<ApiObject>, namespace?: string): string {
  const group = dialect().group(resource.group);
  const root = group === '' ? `/api/${resource.version}` : `/apis/${group}/${resource.version}`;
  const scope = namespace ? `/namespaces/${encodeURIComponent(namespace)}` : '';
  return `${root}${scope}/${resource.plural}`;
}

function callOptions(options: CallOptions): CallOptions {
  return {
    ...(options.timeoutMs === undefined ? {} : { timeoutMs: options.timeoutMs }),
    ...(options.sendOnce ? { sendOnce: true } : {}),
    ...(options.yieldMs === undefined ? {} : { yieldMs: options.yieldMs }),
    ...(options.signal ? { signal: options.signal } : {}),
  };
}

/** The options of a list that are parameters of the request. */
function selectionQuery(options: ListOptions): Record<string, QueryValue> {
  const {
    timeoutMs: _timeout,
    sendOnce: _once,
    yieldMs: _yield,
    signal: _signal,
    ...query
  } = options;
  return query;
}

function writeQuery(options: WriteOptions): Record<string, QueryValue> {
  return { dryRun: options.dryRun ? 'All' : undefined, fieldManager: options.fieldManager };
}

function patchRequest(body: unknown, options: PatchOptions): RequestOptions {
  return {
    ...callOptions(options),
    query: { ...writeQuery(options), force: options.force },
    headers: { 'content-type': patchMediaTypes[options.type] },
    body,
  };
}

function deleteBody(options: DeleteOptions): Record<string, unknown> {
  return {
    kind: 'DeleteOptions',
    apiVersion: 'v1',
    gracePeriodSeconds: options.gracePeriodSeconds,
    propagationPolicy: options.propagationPolicy,
    preconditions: options.preconditions,
    dryRun: options.dryRun ? ['All'] : undefined,
  };
}

export class RestResourceClient<T extends ApiObject> implements ResourceClient<T> {
  private readonly path: string;

  constructor(
    private readonly client: Requester,
    readonly resource: ResourceRef<T>,
    readonly namespace: string | undefined,
    private readonly view: ObjectView = 'full',
  ) {
    this.path = collectionPath(resource, namespace);
  }

  get(name: string, options: GetOptions = {}): Promise<T> {
    const query = { resourceVersion: options.resourceVersion };
    return this.send<T>('GET', this.itemPath(name), { ...callOptions(options), query });
  }

  list(options: ListOptions = {}): Promise<ApiList<T>> {
    const headers = { accept: acceptOf(this.view, true) };
    const query = selectionQuery(options);
    return this.send('GET', this.path, { ...callOptions(options), query, headers });
  }

  async listAll(options: Omit<ListOptions, 'continue'> = {}): Promise<ApiList<T>> {
    let page = await this.list(options);
    let items = page.items ?? [];
    let restarted = false;
    for (let count = 1; page.metadata.continue && count < limits.pageCountMax; count++) {
      try {
        const { resourceVersion: _version, resourceVersionMatch: _match, ...rest } = options;
        page = await this.list({ ...rest, continue: page.metadata.continue });
      } catch (error) {
        if (!isGone(error) || restarted) throw error;
        // The snapshot of the pages is compacted; a list without pages needs none.
        restarted = true;
        page = await this.list({ ...options, limit: undefined });
        items = [];
      }
      for (const item of page.items ?? []) items.push(item);
    }
    return { ...page, items };
  }

  create(object: T, options: WriteOptions = {}): Promise<T> {
    return this.send('POST', this.path, this.creation(object, options));
  }

  async createOnly(object: T, options: WriteOptions = {}): Promise<void> {
    await this.request('POST', this.path, this.creation(object, options));
  }

  replace(object: T, options: WriteOptions = {}): Promise<T> {
    return this.put(this.itemPath(nameOf(object)), object, options, this.bodyKind());
  }

  replaceStatus(object: T, options: WriteOptions = {}): Promise<T> {
    const path = `${this.itemPath(nameOf(object))}/status`;
    return this.put(path, object, options, this.bodyKind());
  }

  patch(name: string, body: unknown, options: PatchOptions): Promise<T> {
    return this.send('PATCH', this.itemPath(name), patchRequest(body, options));
  }

  patchStatus(name: string, body: unknown, options: PatchOptions): Promise<T> {
    return this.send('PATCH', `${this.itemPath(name)}/status`, patchRequest(body, options));
  }

  delete(name: string, options: DeleteOptions = {}): Promise<ApiObject> {
    return this.send('DELETE', this.itemPath(name), {
      ...callOptions(options),
      body: deleteBody(options),
    });
  }

  async deleteCollection(selection: ListOptions = {}, options: DeleteOptions = {}): Promise<void> {
    await this.client.request('DELETE', this.path, {
      ...callOptions(options),
      query: selectionQuery(selection),
      body: deleteBody(options),
    });
  }

  subresource<S>(name: string, subresource: string): SubresourceClient<S> {
    const path = `${this.itemPath(name)}/${subresource}`;
    return {
      get: (options = {}) => this.send<S>('GET', path, callOptions(options)),
      create: <R = S>(body: S, options: WriteOptions = {}) =>
        this.send<R>('POST', path, { ...callOptions(options), query: writeQuery(options), body }),
      replace: (body, options = {}) => this.put<S>(path, body, options),
      patch: (body, options) => this.send<S>('PATCH', path, patchRequest(body, options)),
      stream: (query, options = {}): Promise<StreamResponse> =>
        this.client.stream('GET', path, {
          ...(query ? { query } : {}),
          ...(options.signal ? { signal: options.signal } : {}),
          headers: { accept: '*/*' },
        }),
    };
  }

  watch(options: WatchOptions = {}): AsyncIterable<WatchEvent<T>> {
    const { signal, ...query } = options;
    return decodeWatch<T>(() =>
      this.client.stream('GET', this.path, {
        query: { ...query, watch: true },
        headers: { accept: acceptOf(this.view, false) },
        ...(signal ? { signal } : {}),
      }),
    );
  }

  private itemPath(name: string): string {
    if (name === '') throw new TypeError(`a name is needed for ${this.path}`);
    return `${this.path}/${encodeURIComponent(name)}`;
  }

  private creation(object: T, options: WriteOptions): RequestOptions {
    const query = writeQuery(options);
    return { ...callOptions(options), query, body: object, ...this.bodyKind() };
  }

  private put<S>(
    path: string,
    body: S,
    options: WriteOptions,
    bodyKind: Pick<RequestOptions, 'bodyKind'> = {},
  ): Promise<S> {
    const query = writeQuery(options);
    return this.send<S>('PUT', path, { ...callOptions(options), query, body, ...bodyKind });
  }

  /** The kind of the objects of the resource, if it is known without discovery. */
  private bodyKind(): Pick<RequestOptions, 'bodyKind'> {
    const { group, version, kind } = this.resource as Partial<KnownResource<T>> & ResourceRef<T>;
    if (kind === undefined) return {};
    return { bodyKind: { apiVersion: dialect().apiVersion(group, version), kind } };
  }

  private async send<R>(method: string, path: string, options: RequestOptions): Promise<R> {
    return (await this.request(method, path, options)).json<R>();
  }

  private request(method: string, path: string, options: RequestOptions): Promise<RestResponse> {
    const headers = { accept: acceptOf(this.view, false), ...options.headers };
    return this.client.request(method, path, { ...options, headers });
  }
}

function nameOf(object: ApiObject): string {
  return object.metadata?.name ?? '';
}
