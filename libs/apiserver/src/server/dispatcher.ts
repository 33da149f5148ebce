/** Finds what answers a request on a resource that has been let in: by kind, subresource and verb. */
import { methodNotSupported, pathNotFound } from '@orch/apimachinery';
import type { User } from '../authentication/user.js';
import { customHandler } from '../customresources/custom-handler.js';
import type { CustomParts } from '../customresources/custom-parts.js';
import type { CustomResources } from '../customresources/custom-resources.js';
import type { Call, Handler } from '../handlers/call.js';
import { handleComponentStatuses } from '../handlers/component-statuses.js';
import { handlePatch } from '../handlers/patch.js';
import { handleNamedBinding } from '../handlers/pod-actions.js';
import { handleGet, handleList, handleWatch } from '../handlers/read.js';
import { type ReviewParts, reviewHandler } from '../handlers/reviews.js';
import {
  type Subresource,
  type SubresourceParts,
  subresourcesOf,
} from '../handlers/subresources.js';
import {
  handleCreate,
  handleDelete,
  handleDeleteCollection,
  handleReplace,
} from '../handlers/write.js';
import type { WatchRegistry } from '../observability/watch-registry.js';
import type { RegistryParts } from '../registry/registry-parts.js';
import type { ServedResource } from '../registry/resource.js';
import type { Query } from '../request/query.js';
import type { RequestInfo } from '../request/request-info.js';
import { checkDryRunEnabled } from '../request/write-options.js';
import type { Exchange } from '../response/exchange.js';
import { sendNotFoundText, sendUnknownPath } from '../response/unknown-path.js';

export interface DispatcherSettings extends SubresourceParts, ReviewParts {
  readonly parts: RegistryParts;
  readonly customParts: CustomParts;
  readonly customResources: CustomResources;
  readonly watches: WatchRegistry;
  /** The index of paths. */
  readonly paths: () => readonly string[];
}

/** A request that has been let in. */
export interface Admitted {
  readonly exchange: Exchange;
  readonly info: RequestInfo;
  readonly query: Query;
  readonly user: User;
  /** Undefined for what is no resource of this server. */
  readonly served: ServedResource | undefined;
  /** On the monotonic clock: when its time is over. */
  readonly deadlineMs: number;
}

/** What answers a request that has been let in. */
export type Answer = (admitted: Admitted) => Promise<void>;

const writingMethods: ReadonlySet<string> = new Set(['POST', 'PUT', 'PATCH', 'DELETE']);

export class Dispatcher {
  private readonly handlers: Readonly<Record<string, Handler>>;
  private readonly subresources = new WeakMap<ServedResource, ReadonlyMap<string, Subresource>>();
  private readonly answerReview: Handler;
  /** By kind; all others are reviews. */
  private readonly virtual: Readonly<Record<string, Handler>> = {
    Binding: handleNamedBinding,
    ComponentStatus: handleComponentStatuses,
  };

  constructor(private readonly settings: DispatcherSettings) {
    this.handlers = {
      get: handleGet,
      list: handleList,
      watch: (call) => handleWatch(call, settings.watches),
      create: handleCreate,
      update: handleReplace,
      patch: handlePatch,
      delete: handleDelete,
      deletecollection: handleDeleteCollection,
    };
    this.answerReview = reviewHandler(settings);
  }

  /** By name. */
  subresourcesOf(served: ServedResource): ReadonlyMap<string, Subresource> {
    let byName = this.subresources.get(served);
    if (!byName) {
      const all = subresourcesOf(served, this.settings);
      byName = new Map(all.map((entry) => [entry.name, entry]));
      this.subresources.set(served, byName);
    }
    return byName;
  }

  async dispatch(admitted: Admitted): Promise<void> {
    const { exchange, info, query, user, deadlineMs } = admitted;
    const { parts, customParts } = this.settings;
    const { table, features } = parts;
    if (!info.isResource) {
      // The path of a resource with a method that there is not.
      if (info.version !== '') throw methodNotSupported();
      return sendUnknownPath(exchange, this.settings.paths());
    }
    let { served } = admitted;
    if (!served || served.definition.custom) served = await this.servedNow(admitted);
    if (!served) {
      if (!table.hasBuiltInGroup(info.group)) return sendNotFoundText(exchange);
      throw pathNotFound();
    }
    const handler = this.handlerFor(served, info);
    if (!handler) return sendNotFoundText(exchange);
    // Bodies cannot be asked about without being read.
    const { method } = exchange.request;
    if (method === 'HEAD' && info.subresource !== 'proxy') throw methodNotSupported();
    warnOfDeprecation(exchange, served);
    if (writingMethods.has(method ?? '') && query.has('dryRun')) checkDryRunEnabled(features);
    // Spelt out: spreading and then adding costs several microseconds.
    const call: Call = {
      exchange,
      info,
      query,
      user,
      parts: customParts.of(served),
      served,
      deadlineMs,
    };
    return handler(call);
  }

  /**
   * Custom resources may have come or gone while the request was let in, and another server may have
   * established one that this server has yet to hear of.
   */
  private async servedNow({
    served,
    info,
    deadlineMs,
  }: Admitted): Promise<ServedResource | undefined> {
    const { table } = this.settings.parts;
    const { group, version, resource } = info;
    // Groups of custom resources are domains.
    if (!served && group.includes('.') && !table.hasBuiltInGroup(group)) {
      await this.settings.customResources.catchUp(deadlineMs);
    }
    return table.find(group, version, resource);
  }

  /** Undefined where there is nothing. Throws 404 for what is not served and 405 for what cannot be done with it. */
  private handlerFor(served: ServedResource, info: RequestInfo): Handler | undefined {
    const subresource = this.subresourcesOf(served).get(info.subresource);
    if (served.definition.custom) return customHandler(served, info, this.handlers, subresource);
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
    if (!fits || (everywhere && needsNamespace) || !this.allows(served, verb)) {
      throw methodNotSupported();
    }
    if (served.definition.virtual) return this.virtual[served.kind] ?? this.answerReview;
    return this.handlers[verb] ?? unknownVerb();
  }

  private allows(served: ServedResource, verb: string): boolean {
    return (served.resource.verbs as ReadonlySet<string>).has(verb);
  }
}

function unknownVerb(): Handler {
  throw methodNotSupported();
}

/** Namespaced objects have a namespace in their path, others have none. */
function checkScope(served: ServedResource, info: RequestInfo): void {
  const { namespaced, plural } = served.definition;
  if (namespaced && info.name !== '' && info.namespace === '') throw pathNotFound();
  if (!namespaced && info.namespace !== '' && plural !== 'namespaces') throw pathNotFound();
}

function warnOfDeprecation(exchange: Exchange, served: ServedResource): void {
  if (served.deprecationWarning !== '') exchange.warnings.push(served.deprecationWarning);
}
