/**
 * One request and everything that its filters and handler need. Created once and passed on
 * unchanged: filters add their results, handlers the options of their body. It is the context of
 * the writes of the request.
 */
import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import type { Http2ServerRequest, Http2ServerResponse } from 'node:http2';
import type { StrategyContext } from '@orch/api';
import { formatTime, managerName } from '@orch/apimachinery';
import type { Clock, Dial, Features } from '@orch/component';
import type { ObjectKey, ServedResource, WriteContext } from '@orch/registry';
import { type Authorizer, anonymousUser, noAuthorizer, type User } from '@orch/security';
import type { AuditSink } from './audit-sink.js';
import { Query } from './query.js';
import { type RequestInfo, unparsedRequest } from './request-info.js';
import type { RequestRecorder } from './request-recorder.js';
import type { ClientUpgrade } from './upgrade.js';

export type RawRequest = IncomingMessage | Http2ServerRequest;
export type RawResponse = ServerResponse | Http2ServerResponse;

/** Settings that all requests of a server share. */
export interface RequestContextOptions {
  readonly clock: Clock;
  readonly features: Features;
  readonly requestTimeoutMs: number;
  /** Whether long responses are compressed for clients that accept gzip. */
  readonly compression: boolean;
  /** Whether `Warning` headers are sent. */
  readonly warningHeaders: boolean;
  /** Value of the header `Strict-Transport-Security`; empty: none. */
  readonly strictTransportSecurity: string;
  /** Opens connections to nodes, pods and services. Absent: they are direct. */
  readonly dialCluster?: Dial | undefined;
}

export class RequestContext implements WriteContext {
  /** Read from method and path by the first filter. */
  info: RequestInfo = unparsedRequest;
  query: Query = Query.empty;
  /** The resource that the path names; undefined: none of this server. */
  served: ServedResource | undefined;
  /** Connections, watches and logs: no deadline, and not counted as in flight. */
  isLongRunning = false;
  /** The seat of the request while flow control counts it as executing. */
  seat: { release(): void } | undefined;
  /** Whether metrics count the request as an open long-running one. */
  isCounted = false;
  /** Handles the request in place of the dispatcher of resources. */
  handle: ((context: RequestContext) => Promise<void>) | undefined;
  /** Metrics of requests like this one; undefined until the request is parsed. */
  recorder: RequestRecorder | undefined;
  isAuthenticated = false;
  user: User = anonymousUser;
  /** For checks of handlers that depend on more than the path. */
  authorizer: Authorizer = noAuthorizer;
  /** Undefined: the request is not audited. */
  audit: AuditSink | undefined;
  dryRun = false;
  fieldManager: string | undefined;
  sentFieldManager = '';
  /** Whether the client set a limit below that of the server. */
  hasClientTimeout = false;
  readonly warnings: string[] = [];
  /** Response headers besides the common ones. */
  readonly headers: OutgoingHttpHeaders = {};
  /** Bytes of the response body that have been sent. */
  bodyBytes = 0;
  /** The response continues after its handler has returned, until the connection closes. */
  streaming = false;
  /** The server closed the connection in the middle of the response. */
  aborted = false;
  readonly features: Features;
  /** On the monotonic clock. */
  readonly startMs: number;
  /** On the monotonic clock. */
  deadlineMs: number;
  private time: string | undefined;

  constructor(
    readonly request: RawRequest,
    readonly response: RawResponse,
    readonly options: RequestContextOptions,
    /** The client requests another protocol on this connection. */
    readonly upgrade?: ClientUpgrade,
  ) {
    this.features = options.features;
    this.startMs = options.clock.monotonicMs();
    this.deadlineMs = this.startMs + options.requestTimeoutMs;
  }

  /** The client set a limit below that of the server. */
  setClientTimeout(timeoutMs: number): void {
    this.hasClientTimeout = true;
    this.deadlineMs = this.startMs + timeoutMs;
  }

  /** Time left until the deadline; at least one millisecond. */
  get timeLeftMs(): number {
    return Math.max(1, Math.ceil(this.deadlineMs - this.options.clock.monotonicMs()));
  }

  /** Wall clock, ms. */
  get nowMs(): number {
    return this.options.clock.nowMs();
  }

  /** Gives the seat to another request: the rest of this one costs this server little. */
  releaseSeat(): void {
    const { seat } = this;
    this.seat = undefined;
    seat?.release();
  }

  /** RFC 3339; the same for the whole request. */
  get now(): string {
    this.time ??= formatTime(this.nowMs);
    return this.time;
  }

  get requestVersion(): StrategyContext['requestVersion'] {
    const { served } = this;
    return served && { group: served.served.group, version: served.version };
  }

  get pathName(): string {
    return this.info.name;
  }

  /** The object that the path names. */
  get key(): ObjectKey {
    return this.info;
  }

  /** The options of a write. `fieldManager`: empty if the client named none. */
  setOptions({ dryRun, fieldManager }: { dryRun: boolean; fieldManager: string }): void {
    this.dryRun = dryRun;
    this.sentFieldManager = fieldManager;
  }

  annotateAudit(key: string, value: string, level: 'Metadata' | 'Request'): void {
    this.audit?.annotate(key, value, level);
  }

  /**
   * Tracks the fields of this write as owned by the manager the client names, or by its user agent.
   */
  trackOwnership(fieldManager: string): void {
    if (!this.features.enabled('ServerSideApply')) return;
    this.fieldManager = managerName(fieldManager, this.request.headers['user-agent']);
  }
}
