/** A client that sends its requests to an in-memory API server without a network. */
import type { ApiObject } from '../objects.js';
import type { ApiClient } from '../rest/api-client.js';
import { type Discovery, discover } from '../rest/discovery.js';
import type { ResourceClient } from '../rest/resource-client.js';
import type { ResourceRef } from '../rest/resource-ref.js';
import { RestResourceClient } from '../rest/rest-resource-client.js';
import type { RequestOptions, RestResponse, StreamResponse } from '../rest/rest-types.js';
import { jsonResponse } from './json-response.js';
import type { MemoryApiServer } from './memory-api-server.js';
import type { MemoryWatch } from './memory-watch.js';

export class MemoryApiClient implements ApiClient {
  private isClosed = false;

  constructor(private readonly server: MemoryApiServer) {}

  resource<T extends ApiObject>(resource: ResourceRef<T>, namespace?: string): ResourceClient<T> {
    return new RestResourceClient<T>(this, resource, namespace);
  }

  metadata(resource: ResourceRef<ApiObject>, namespace?: string): ResourceClient<ApiObject> {
    return new RestResourceClient<ApiObject>(this, resource, namespace, 'metadata');
  }

  discover(): Promise<Discovery> {
    return discover(this);
  }

  derive(): ApiClient {
    return this;
  }

  async request(method: string, path: string, options: RequestOptions = {}): Promise<RestResponse> {
    await this.arrive(options.signal);
    return jsonResponse(this.server.handle(method, path, options));
  }

  async stream(
    _method: string,
    path: string,
    options: RequestOptions = {},
  ): Promise<StreamResponse> {
    await this.arrive(options.signal);
    const watch = this.server.watch(path, options);
    return { statusCode: 200, headers: {}, body: lines(watch, options.signal) };
  }

  async close(): Promise<void> {
    this.isClosed = true;
  }

  /** A request never completes synchronously. */
  private async arrive(signal: AbortSignal | undefined): Promise<void> {
    await Promise.resolve();
    signal?.throwIfAborted();
    if (this.isClosed) throw new Error('the client is closed');
  }
}

async function* lines(
  watch: MemoryWatch,
  signal: AbortSignal | undefined,
): AsyncIterable<Uint8Array> {
  const close = () => watch.close();
  signal?.addEventListener('abort', close, { once: true });
  try {
    for await (const event of watch) yield Buffer.from(`${JSON.stringify(event)}\n`);
    signal?.throwIfAborted();
  } finally {
    signal?.removeEventListener('abort', close);
    watch.close();
  }
}
