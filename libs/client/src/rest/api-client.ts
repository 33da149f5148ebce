/** The client interface of everything that works with API objects. */
import type { ApiObject } from '../objects.js';
import type { Discovery } from './discovery.js';
import type { ResourceClient } from './resource-client.js';
import type { ResourceRef } from './resource-ref.js';
import type { DerivedOptions, Requester } from './rest-types.js';

export interface ApiClient extends Requester {
  /**
   * A typed client. Without a namespace: all namespaces (list, watch), or a cluster-scoped
   * resource.
   */
  resource<T extends ApiObject>(resource: ResourceRef<T>, namespace?: string): ResourceClient<T>;
  /** As `resource`, but requests only the metadata of objects. */
  metadata(resource: ResourceRef<ApiObject>, namespace?: string): ResourceClient<ApiObject>;
  /** Discovers all resources of all served groups and versions, without subresources. */
  discover(): Promise<Discovery>;
  /**
   * A client over the same connections with its own rate limit (user agent, token), so that one
   * part of a process does not wait for another. Closing this client closes it.
   */
  derive(changes: DerivedOptions): ApiClient;
  /** Closes all connections; later calls fail. */
  close(): Promise<void>;
}
