/** Routes an admitted request on a resource to its handler, by kind, subresource and verb. */
import { methodNotSupported, pathNotFound } from '@orch/apimachinery';
import type { Logger } from '@orch/component';
import type { CustomResources, ServedResource } from '@orch/registry';
import type { RequestContext } from '../http/request-context.js';
import type { RequestInfo } from '../http/request-info.js';
import { checkDryRunEnabled } from '../request/write-options.js';
import { sendNotFoundText, sendUnknownPath } from '../response/unknown-path.js';
import type { WatchDependencies } from '../watch/serve-watch.js';
import { customHandler } from './custom-routes.js';
import type { Handler } from './handler.js';
import { NodeSummaries } from './node-summaries.js';
import { objectRoutes, virtualRoutes } from './object-routes.js';
import { type ReviewDependencies, reviewHandler } from './reviews.js';
import { type Subresource, type SubresourceDependencies, subresourcesOf } from './subresources.js';

export interface DispatcherDependencies extends SubresourceDependencies, ReviewDependencies {
  readonly customResources: CustomResources;
  readonly watch: WatchDependencies;
  readonly logger: Logger;
  /** The paths of the index. */
  readonly paths: () => readonly string[];
}

const writingMethods: ReadonlySet<string> = new Set(['POST', 'PUT', 'PATCH', 'DELETE']);

export class Dispatcher {
  private readonly byVerb: ReadonlyMap<string, Handler>;
  private readonly virtual: ReadonlyMap<string, Handler>;
  private readonly review: Handler;
  private readonly subresources = new WeakMap<ServedResource, ReadonlyMap<string, Subresource>>();

  constructor(private readonly dependencies: DispatcherDependencies) {
    const { registry, watch, nodeAgents, logger } = dependencies;
    const { clock } = registry;
    const summaries = new NodeSummaries({ nodeAgents, clock, logger });
    this.byVerb = objectRoutes(registry, watch);
    this.virtual = virtualRoutes(registry, summaries);
    this.review = reviewHandler(dependencies);
  }

  /** By name. */
  subresourcesOf(served: ServedResource): ReadonlyMap<string, Subresource> {
    let byName = this.subresources.get(served);
    if (!byName) {
      const all = subresourcesOf(served, this.dependencies);
      byName = new Map(all.map((entry) => [entry.name, entry]));
      this.subresources.set(served, byName);
    }
    return byName;
  }

  /** Sends the response. Throws as well as rejects, with StatusError or StoreError. */
  dispatch(context: RequestContext): Promise<void> {
    const { info, served } = context;
    if (info.isResource && info.verb === '') throw methodNotSupported();
    return served && !served.definition.custom
      ? this.dispatchTo(served, context)
      : this.dispatchOthers(context);
  }

  /** Requests on custom resources and on paths that name no resource of this server. */
  private async dispatchOthers(context: RequestContext): Promise<void> {
    const { info } = context;
    const { registry, paths } = this.dependencies;
    if (!info.isResource) return sendUnknownPath(context, paths());
    const served = await this.findCustom(context);
    context.served = served;
    if (served) return this.dispatchTo(served, context);
    if (!registry.table.hasBuiltInGroup(info.group)) return sendNotFoundText(context);
    throw pathNotFound();
  }

  private dispatchTo(served: ServedResource, context: RequestContext): Promise<void> {
    const { info, query, request } = context;
    const handle = this.handlerFor(served, info);
    if (!handle) return Promise.resolve(sendNotFoundText(context));
    const method = request.method ?? '';
    // The headers of a response need its body.
    if (method === 'HEAD' && info.subresource !== 'proxy') throw methodNotSupported();
    if (served.deprecationWarning !== '') context.warnings.push(served.deprecationWarning);
    if (writingMethods.has(method) && query.has('dryRun')) checkDryRunEnabled(context.features);
    return handle(context, this.dependencies.registry.store(served));
  }

  /**
   * Custom resources may have been defined or deleted since the request arrived, and another server
   * may have established one that this server has not applied yet.
   */
  private async findCustom({
    served,
    info,
    deadlineMs,
  }: RequestContext): Promise<ServedResource | undefined> {
    const { customResources, registry } = this.dependencies;
    const { group, version, resource } = info;
    // Groups of custom resources are domains.
    if (!served && group.includes('.') && !registry.table.hasBuiltInGroup(group)) {
      await customResources.catchUp(deadlineMs);
    }
    return registry.table.find(group, version, resource);
  }

  /**
   * Undefined: the path does not exist. Throws 404 for an unknown subresource and 405 for an
   * unsupported verb.
   */
  private handlerFor(served: ServedResource, info: RequestInfo): Handler | undefined {
    const subresource = this.subresourcesOf(served).get(info.subresource);
    if (served.definition.custom) return customHandler(served, info, this.byVerb, subresource);
    checkScope(served, info);
    if (info.watchPath && info.verb !== 'watch') throw methodNotSupported();
    if (info.subresource !== '') {
      if (subresource?.isProxy) return subresource.handle;
      if (!subresource || info.rest.length > 0) throw pathNotFound();
      if (!subresource.verbs.includes(info.verb)) throw methodNotSupported();
      return subresource.handle;
    }
    const { verb, name } = info;
    const named = verb === 'get' || verb === 'update' || verb === 'patch' || verb === 'delete';
    const fits = verb === 'watch' || named === (name !== '');
    const everywhere = served.definition.namespaced && info.namespace === '';
    const needsNamespace = verb === 'create' || verb === 'deletecollection';
    const isAllowed = served.resource.verbs.has(verb);
    if (!fits || (everywhere && needsNamespace) || !isAllowed) throw methodNotSupported();
    const handler = served.definition.virtual
      ? (this.virtual.get(served.kind) ?? this.review)
      : this.byVerb.get(verb);
    if (!handler) throw methodNotSupported();
    return handler;
  }
}

/** Paths of namespaced objects name a namespace, others do not. Throws 404. */
function checkScope(served: ServedResource, info: RequestInfo): void {
  const { namespaced, plural } = served.definition;
  if (namespaced && info.name !== '' && info.namespace === '') throw pathNotFound();
  if (!namespaced && info.namespace !== '' && plural !== 'namespaces') throw pathNotFound();
}
