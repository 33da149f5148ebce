/**
 * The pipeline of every request on a resource: what it asks for, who asks, whether there is room, whether
 * they may, then the handler; and for whatever goes wrong on the way one Status. The same checks serve
 * the paths that name no resource.
 */
import { internalError, StatusError } from '@orch/apimachinery';
import type { Logger } from '@orch/component';
import type { AuditedRequest, Auditor } from '../audit/auditor.js';
import type { Authenticator } from '../authentication/authenticator.js';
import type { User } from '../authentication/user.js';
import { enforce } from '../authorization/authorizer.js';
import type { Subresource } from '../handlers/subresources.js';
import { dryRunLabel, scopeLabel, verbLabel } from '../observability/request-labels.js';
import type { RequestMetrics, Route } from '../observability/request-metrics.js';
import type { ServedResource } from '../registry/resource.js';
import { statusOfStoreError } from '../registry/store-errors.js';
import { negotiate, plainJson, type Representation } from '../request/media-types.js';
import { type Query, splitTarget } from '../request/query.js';
import { parseRequestInfo, type RequestInfo } from '../request/request-info.js';
import {
  abort,
  type Exchange,
  isCutOff,
  newExchange,
  type RawRequest,
  type RawResponse,
} from '../response/exchange.js';
import { failureOf, sendFailure, sendOverload } from '../response/status.js';
import { type Answer, Dispatcher, type DispatcherSettings } from './dispatcher.js';
import { type Place, type RequestGate, requestKind } from './request-gate.js';
import type { ClientUpgrade, UpgradeExchange } from './upgrade.js';

export interface ApiHandlerSettings extends DispatcherSettings {
  readonly authenticator: Authenticator;
  readonly gate: RequestGate;
  readonly metrics: RequestMetrics;
  /** Undefined when nothing is recorded. */
  readonly auditor?: Auditor | undefined;
  readonly requestTimeoutMs: number;
  readonly logger: Logger;
}

export class ApiHandler {
  private readonly dispatcher: Dispatcher;
  private readonly without: Exchange['without'];
  private readonly answerResource: Answer = (admitted) => this.dispatcher.dispatch(admitted);

  constructor(private readonly settings: ApiHandlerSettings) {
    const { features } = settings.parts;
    this.without = {
      compression: !features.enabled('APIResponseCompression'),
      warnings: !features.enabled('WarningHeaders'),
    };
    this.dispatcher = new Dispatcher(settings);
  }

  subresourcesOf(served: ServedResource): readonly Subresource[] {
    return [...this.dispatcher.subresourcesOf(served).values()];
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
      subresource !== '' && served && this.dispatcher.subresourcesOf(served).has(subresource);
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
