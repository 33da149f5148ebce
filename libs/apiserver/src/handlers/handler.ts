/** What handles a request on a resource. */
import type { ResourceStore } from '@orch/registry';
import type { RequestContext } from '../http/request-context.js';

/** Sends the response, or throws StatusError or StoreError before it has begun to. */
export type Handler = (context: RequestContext, store: ResourceStore) => Promise<void>;
