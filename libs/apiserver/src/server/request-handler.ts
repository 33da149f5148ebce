/**
 * Every request of the API server, from the socket through the filters to its handler: resources to
 * the dispatcher, other paths to the handler that their route names.
 */
import type { ServedResource } from '@orch/registry';
import { chain, type Next } from '../filters/filter.js';
import { type FilterDependencies, requestFilters } from '../filters/request-filters.js';
import { Dispatcher, type DispatcherDependencies } from '../handlers/dispatcher.js';
import type { Subresource } from '../handlers/subresources.js';
import {
  type RawRequest,
  type RawResponse,
  RequestContext,
  type RequestContextOptions,
} from '../http/request-context.js';
import type { ClientUpgrade, UpgradeResponse } from '../http/upgrade.js';

export interface RequestHandlerDependencies
  extends DispatcherDependencies,
    Omit<FilterDependencies, 'table' | 'hasSubresource'> {}

export class RequestHandler {
  private readonly dispatcher: Dispatcher;
  private readonly run: Next;

  constructor(
    dependencies: RequestHandlerDependencies,
    private readonly options: RequestContextOptions,
  ) {
    const dispatcher = new Dispatcher(dependencies);
    const { table } = dependencies.registry;
    const hasSubresource = (served: ServedResource, name: string) =>
      dispatcher.subresourcesOf(served).has(name);
    this.dispatcher = dispatcher;
    this.run = chain(
      requestFilters({ ...dependencies, table, hasSubresource }),
      (context) => context.handle?.(context) ?? dispatcher.dispatch(context),
    );
  }

  subresourcesOf(served: ServedResource): readonly Subresource[] {
    return [...this.dispatcher.subresourcesOf(served).values()];
  }

  /** Handles a request on a resource. Never throws. */
  handle(request: RawRequest, response: RawResponse, upgrade?: ClientUpgrade): void {
    void this.run(new RequestContext(request, response, this.options, upgrade));
  }

  /** Handles a request on a resource whose client requests another protocol. Never throws. */
  handleUpgrade(request: RawRequest, { response, upgrade }: UpgradeResponse): void {
    this.handle(request, response, upgrade);
  }

  /** Runs the filters, then `handle` in place of the dispatcher. Never rejects. */
  serve(
    request: RawRequest,
    response: RawResponse,
    handle: (context: RequestContext) => Promise<void>,
  ): Promise<void> {
    const context = new RequestContext(request, response, this.options);
    context.handle = handle;
    return this.run(context);
  }
}
