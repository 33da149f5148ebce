/**
 * The pipeline of every request on a resource: what it asks for, who asks, whether there is room, whether
 * they may, then the handler; and for whatever goes wrong on the way one Status. The same checks serve
 * the paths that name no resource.
 */
import { internalError, methodNotSupported, pathNotFound, StatusError } from '@orch/apimachinery';
import type { Logger } from '@orch/component';
import type { AuditedRequest, Auditor } from '../audit/auditor.js';
import type { Authenticator } from '../authentication/authenticator.js';
import type { User } from '../authentication/user.js';
import { type Authorizer, enforce, type PermissionLister } from '../authorization/authorizer.js';
import { customHandler } from '../customresources/custom-handler.js';
import type { CustomParts } from '../customresources/custom-parts.js';
import type { CustomResources } from '../customresources/custom-resources.js';
import type { Call, Handler } from '../handlers/call.js';
import { handleComponentStatuses } from '../handlers/component-statuses.js';
import { handlePatch } from '../handlers/patch.js';
import { handleNamedBinding } from '../handlers/pod-actions.js';
import { handleGet, handleList, handleWatch } from '../handlers/read.js';
import { reviewHandler } from '../handlers/reviews.js';
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
import { dryRunLabel, scopeLabel, verbLabel } from '../observability/request-labels.js';
import type { RequestMetrics, Route } from '../observability/request-metrics.js';
import type { WatchRegistry } from '../observability/watch-registry.js';
import type { RegistryParts } from '../registry/registry-parts.js';
import type { ServedResource } from '../registry/resource.js';
import { statusOfStoreError } from '../registry/store-errors.js';
import { negotiate, plainJson, type Representation } from '../request/media-types.js';
import { type Query, splitTarget } from '../request/query.js';
import { parseRequestInfo, type RequestInfo } from '../request/request-info.js';
import { checkDryRunEnabled } from '../request/write-options.js';
import {
  abort,
  type Exchange,
  isCutOff,
  newExchange,
  type RawRequest,
  type RawResponse,
  sendBody,
} from '../response/exchange.js';
import { failureOf, sendFailure, sendOverload } from '../response/status.js';
import { type Place, type RequestGate, requestKind } from './request-gate.js';
import type { ClientUpgrade, UpgradeExchange } from './upgrade.js';

export interface ApiHandlerSettings extends SubresourceParts {
  readonly parts: RegistryParts;
  readonly customParts: CustomParts;
  readonly customResources: CustomResources;
  readonly authenticator: Authenticator;
  readonly authorizer: Authorizer;
  readonly permissions: PermissionLister;
  readonly gate: RequestGate;
  readonly metrics: RequestMetrics;
  readonly watches: WatchRegistry;
  /** Undefined when nothing is recorded. */
  readonly auditor?: Auditor | undefined;
  readonly requestTimeoutMs: number;
  readonly logger: Logger;
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
const notFoundText = Buffer.from('404 page not found\n');

export class ApiHandler {
  private readonly handlers: Readonly<Record<string, Handler>>;
  private readonly subresources = new WeakMap<ServedResource, ReadonlyMap<string, Subresource>>();
  private readonly without: Exchange['without'];
  private readonly answerReview: Handler;
  /** By kind; all others are reviews. */
  private readonly virtual: Readonly<Record<string, Handler>> = {
    Binding: handleNamedBinding,
    ComponentStatus: handleComponentStatuses,
  };
  private readonly answerResource: Answer = (admitted) => this.dispatch(admitted);

  constructor(private readonly settings: ApiHandlerSettings) {
    const { features } = settings.parts;
    this.without = {
      compression: !features.enabled('APIResponseCompression'),
      warnings: !features.enabled('WarningHeaders'),
    };
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

  subresourcesOf(served: ServedResource): readonly Subresource[] {
    return [...this.subresourcesByName(served).values()];
  }

  private subresourcesByName(served: ServedResource): ReadonlyMap<string, Subresource> {
    let byName = this.subresources.get(served);
    if (!byName) {
      const all = subresourcesOf(served, this.settings);
      byName = new Map(all.map((entry) => [entry.name, entry]));
      this.subresources.set(served, byName);
    }
    return byName;
  }

  /** Answers a request on a resource. Never throws. */
  handle(request: RawRequest, response: RawResponse): void {
    void this.serve(request, response, this.answerResource);
  }

  /** The same for a connection that may be upgraded; the request has no body. Never throws. */
  handleUpgrade(request: RawRequest, { response, upgrade }: UpgradeExchange): void {
    void this.serve(request, response, this.answerResource, upgrade);
  }

  /** Lets a request in, has it answered and accounts for it. Never rejects. */
  async serve(
    request: RawRequest,
    response: RawResponse,
    answer: Answer,
    upgrade?: ClientUpgrade,
  ): Promise<void> {
    const { auditor, authenticator, authorizer, gate, metrics, parts } = this.settings;
    const { clock, table } = parts;
    const startMs = clock.monotonicMs();
    const exchange = newExchange(request, response, upgrade, this.without);
    let info: RequestInfo | undefined;
    let user: User | undefined;
    let route: Route | undefined;
    let place: Place | undefined;
    let isLong = false;
    try {
      const { path, query } = splitTarget(request.url ?? '/');
      info = parseRequestInfo(request.method ?? 'GET', path, query.flag('watch'));
      const served = info.isResource
        ? table.find(info.group, info.version, info.resource)
        : undefined;
      route = this.routeOf(request, info, query, served);
      user = await authenticator.authenticate(request);
      let atMs = clock.monotonicMs();
      metrics.authentication.observe((atMs - startMs) / 1_000);
      const goesOnForLong = isLongRunning(info);
      if (auditor) {
        await this.beginAudit(auditor, { exchange, info, user, isLong: goesOnForLong }, served);
        atMs = clock.monotonicMs();
      }
      if (!goesOnForLong) {
        const entered = gate.enter({ info, user, exchange, arrivalMs: atMs });
        if (entered instanceof Promise) {
          place = await entered;
          atMs = clock.monotonicMs();
        } else place = entered;
        if (!place) {
          metrics.refused(route, requestKind(info.verb));
          sendOverload(exchange);
          return;
        }
      }
      const decision = authorizer({ user, info });
      exchange.audit?.authorized(decision.allowed, decision.reason);
      enforce(decision, { user, info });
      metrics.authorization.observe((clock.monotonicMs() - atMs) / 1_000);
      if (goesOnForLong && served) {
        route.longRunning(1);
        isLong = true;
      }
      const deadlineMs = startMs + this.settings.requestTimeoutMs;
      await answer({ exchange, info, query, user, served, deadlineMs });
    } catch (error) {
      // Who asks for something in vain is recorded as well.
      if (auditor && info && !user) {
        exchange.audit = auditor.recordOf({ exchange, info, user, isLong: false })?.ofUnknownUser();
      }
      this.fail(exchange, error, route);
    } finally {
      place?.leave();
      if (route) this.account(exchange, route, startMs, isLong);
    }
  }

  /** Throws 500 when nothing may be done without a record. */
  private async beginAudit(
    auditor: Auditor,
    request: AuditedRequest,
    served: ServedResource | undefined,
  ): Promise<void> {
    const record = auditor.recordOf(request);
    if (!record) return;
    if (served) record.servedBy(served);
    try {
      await record.received();
    } catch (error) {
      auditor.rejected();
      this.settings.logger.warn({ err: error }, 'a request was refused for want of its record');
      throw internalError('failed to store audit event');
    }
    request.exchange.audit = record;
  }

  private routeOf(
    { headers }: RawRequest,
    info: RequestInfo,
    query: Query,
    served: ServedResource | undefined,
  ): Route {
    const { subresource } = info;
    const isKnown =
      subresource !== '' && served && this.subresourcesByName(served).has(subresource);
    return this.settings.metrics.route(
      served,
      verbLabel(info, headers['content-type']),
      served ? scopeLabel(info) : '',
      isKnown ? subresource : '',
      dryRunLabel(query),
    );
  }

  /** Counts a request when its answer has ended. */
  private account(exchange: Exchange, route: Route, startMs: number, isLong: boolean): void {
    const { response, upgrade } = exchange;
    // A connection that speaks something else by now has let go of its response.
    const carrier = upgrade?.socket ?? response;
    if (response.headersSent || upgrade) exchange.audit?.started(response.statusCode);
    if (exchange.goesOn && !(upgrade?.socket.destroyed ?? isCutOff(response))) {
      carrier.once('close', () => this.ended(exchange, route, startMs, isLong));
    } else this.ended(exchange, route, startMs, isLong);
  }

  private ended(exchange: Exchange, route: Route, startMs: number, isLong: boolean): void {
    if (isLong) route.longRunning(-1);
    exchange.audit?.completed(exchange.response.statusCode);
    route.finished(exchange, (this.settings.parts.clock.monotonicMs() - startMs) / 1_000);
  }

  private async dispatch(admitted: Admitted): Promise<void> {
    const { exchange, info, query, user, deadlineMs } = admitted;
    const { parts, customParts } = this.settings;
    const { table, features } = parts;
    if (!info.isResource) {
      // The path of a resource with a method that there is not.
      if (info.version !== '') throw methodNotSupported();
      return sendUnknownPath(exchange, this.settings.paths());
    }
    const served = await this.servedNow(admitted, deadlineMs);
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
  private async servedNow(
    { served, info }: Admitted,
    deadlineMs: number,
  ): Promise<ServedResource | undefined> {
    if (served && !served.definition.custom) return served;
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
    const subresource = this.subresourcesByName(served).get(info.subresource);
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

  private fail(exchange: Exchange, error: unknown, route: Route | undefined): void {
    const { response } = exchange;
    const failure = failureOf(error);
    const expected = error instanceof StatusError && failure.code < 500;
    if (!(statusOfStoreError(error) instanceof StatusError)) exchange.audit?.panicked();
    if (!expected)
      this.settings.logger.warn({ err: error, path: exchange.request.url }, 'request failed');
    if (failure.code === gatewayTimeout) route?.terminated(String(failure.code));
    if (isCutOff(response)) return;
    if (response.headersSent) {
      // An answer that has begun cannot be taken back.
      abort(exchange);
      return;
    }
    sendFailure(exchange, failure, failureRepresentation(exchange));
  }
}

/** What a request gets whose time is over. */
const gatewayTimeout = 504;

const longRunningSubresources: ReadonlySet<string> = new Set([
  'attach',
  'exec',
  'log',
  'portforward',
  'proxy',
]);

function isLongRunning({ verb, subresource }: RequestInfo): boolean {
  return verb === 'watch' || (subresource !== '' && longRunningSubresources.has(subresource));
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

/** Paths outside the API are answered with those that there are. */
export function sendUnknownPath(exchange: Exchange, paths: readonly string[]): void {
  sendBody(exchange, 404, 'application/json', Buffer.from(JSON.stringify({ paths }, null, 2)));
}

export function sendNotFoundText(exchange: Exchange): void {
  exchange.headers['x-content-type-options'] = 'nosniff';
  sendBody(exchange, 404, 'text/plain; charset=utf-8', notFoundText);
}

/** Failures come in the format the client wants, or as JSON when it wants nothing we have. */
function failureRepresentation({ request }: Exchange): Representation {
  try {
    const wanted = negotiate(request.headers.accept, { views: true, stream: false });
    return { ...plainJson, format: wanted.format };
  } catch (error) {
    if (error instanceof StatusError) return plainJson;
    throw error;
  }
}

function warnOfDeprecation(exchange: Exchange, served: ServedResource): void {
  if (served.deprecationWarning !== '') exchange.warnings.push(served.deprecationWarning);
}
