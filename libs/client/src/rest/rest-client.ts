/** The REST client: connections, failover, limits and typed handles on resources. */
import { type Clock, sleep, systemClock } from '@orch/component';
import type { Dispatcher } from 'undici';
import type { ApiObject } from '../objects.js';
import type { ApiClient } from './api-client.js';
import { ApiError, fromResponse } from './api-error.js';
import { type Discovery, discover } from './discovery.js';
import { RateLimit } from './rate-limit.js';
import { encodeRequest, fixedHeaders, queryString, singleHeader } from './request-encoding.js';
import type { ResourceClient } from './resource-client.js';
import type { ResourceRef } from './resource-ref.js';
import { BufferedResponse, observedBody, readAll } from './response-body.js';
import { RestResourceClient } from './rest-resource-client.js';
import type {
  DerivedOptions,
  RequestOptions,
  RestClientOptions,
  RestResponse,
  StreamResponse,
  TlsCredentials,
} from './rest-types.js';
import { retryDelayMs, shouldMoveOn } from './retry-policy.js';
import type { Server } from './server.js';
import { Transport } from './transport.js';
import { fromSocketError, TransportError } from './transport-error.js';

const defaultTimeoutMs = 60_000;
/** How long a server is not chosen after a failure that is not retried. */
const failedRestMs = 1_000;

export class RestClient implements ApiClient {
  private readonly limit: RateLimit;
  private readonly clock: Clock;
  private readonly random: () => number;
  private readonly fixedHeaders: Record<string, string | string[]>;
  /** Clients of `withoutCredentials`, which verify the servers by the same authorities. */
  private readonly withoutOwn: RestClient[] = [];
  private closed = false;

  /** `transport` is for `derive` only. */
  constructor(
    private readonly options: RestClientOptions,
    private readonly transport: Transport = new Transport(options),
    private readonly isDerived = false,
  ) {
    this.clock = options.clock ?? systemClock;
    this.random = options.random ?? Math.random;
    this.limit = new RateLimit(options.qps ?? 50, options.burst ?? 100, this.clock);
    this.fixedHeaders = fixedHeaders(options);
  }

  derive(changes: DerivedOptions): RestClient {
    return new RestClient({ ...this.options, ...changes }, this.transport, true);
  }

  /**
   * Returns a client for the same servers with its own connections and without credentials, for
   * clients that derive from it with a token of their own.
   */
  withoutCredentials(): RestClient {
    const {
      clientCertificate: _certificate,
      token: _token,
      basicAuth: _password,
      impersonate: _user,
      ...options
    } = this.options;
    const client = new RestClient(options);
    this.withoutOwn.push(client);
    return client;
  }

  /**
   * Presents and verifies other certificates from now on, also in derived clients: new requests and
   * watches use new connections, those in flight finish on theirs.
   */
  useTls(tls: TlsCredentials): void {
    this.transport.useTls(tls);
    for (const client of this.withoutOwn) client.useTls(tls.ca === undefined ? {} : { ca: tls.ca });
  }

  /**
   * Returns a typed client. Without a namespace: all namespaces (list, watch), or a cluster-scoped
   * resource.
   */
  resource<T extends ApiObject>(resource: ResourceRef<T>, namespace?: string): ResourceClient<T> {
    return new RestResourceClient<T>(this, resource, namespace);
  }

  metadata(resource: ResourceRef<ApiObject>, namespace?: string): ResourceClient<ApiObject> {
    return new RestResourceClient<ApiObject>(this, resource, namespace, 'metadata');
  }

  async request(method: string, path: string, options: RequestOptions = {}): Promise<RestResponse> {
    const startMs = this.clock.monotonicMs();
    const { url } = this.transport.current;
    try {
      return await this.perform(
        method,
        path,
        options,
        false,
        async ({ statusCode, headers, body }) => {
          return new BufferedResponse(statusCode, headers, await readAll(body));
        },
      );
    } finally {
      this.options.metrics?.took(method, url, path, this.secondsSince(startMs));
    }
  }

  stream(method: string, path: string, options: RequestOptions = {}): Promise<StreamResponse> {
    return this.perform(method, path, options, true, async (response, server) => ({
      statusCode: response.statusCode,
      headers: response.headers,
      body: this.streamBody(response, server, options.signal),
    }));
  }

  discover(): Promise<Discovery> {
    return discover(this);
  }

  async close(): Promise<void> {
    this.closed = true;
    if (!this.isDerived) await this.transport.close();
  }

  private secondsSince(startMs: number): number {
    return (this.clock.monotonicMs() - startMs) / 1_000;
  }

  /** The loop of attempts around one request. */
  private async perform<R>(
    method: string,
    path: string,
    options: RequestOptions,
    isStream: boolean,
    consume: (response: Dispatcher.ResponseData, server: Server) => Promise<R>,
  ): Promise<R> {
    const timeoutMs = options.timeoutMs ?? this.options.requestTimeoutMs ?? defaultTimeoutMs;
    const deadlineMs = this.clock.monotonicMs() + timeoutMs;
    for (let attemptCount = 1; ; attemptCount++) {
      if (this.closed) throw new TransportError('client_closed', 'the client is closed', false);
      const remainingMs = deadlineMs - this.clock.monotonicMs();
      const startMs = this.clock.monotonicMs();
      await this.limit.acquire(remainingMs, options.signal);
      const server = this.transport.current;
      this.options.metrics?.waited(method, server.url, path, this.secondsSince(startMs));
      try {
        return await this.attempt(
          server,
          method,
          path,
          options,
          deadlineMs - this.clock.monotonicMs(),
          isStream,
          consume,
        );
      } catch (error) {
        if (options.signal?.aborted) throw options.signal.reason;
        const failure =
          error instanceof ApiError ? error : fromSocketError(error, server.url.origin);
        if (isTimeout(failure) && !server.watch.heardSince(startMs)) this.transport.suspect(server);
        const delayMs = this.afterFailure(server, method, failure, attemptCount);
        const isFinal = options.sendOnce || delayMs === undefined;
        if (isFinal || this.clock.monotonicMs() + delayMs > deadlineMs) throw failure;
        this.options.logger?.debug(
          { method, path, attempt: attemptCount, delayMs, err: failure },
          'request is retried',
        );
        await sleep(delayMs, options.signal, this.clock);
      }
    }
  }

  /**
   * Switches to another server if this one failed. @returns the pause before the next attempt;
   * undefined if the error is final.
   */
  private afterFailure(
    server: Server,
    method: string,
    error: ApiError | TransportError,
    attemptCount: number,
  ): number | undefined {
    const { serverCount } = this.transport;
    const delayMs = retryDelayMs({ method, error, attemptCount, serverCount }, this.random);
    if (!shouldMoveOn(error)) return delayMs;
    this.transport.moveOn(server, delayMs ?? failedRestMs);
    return delayMs === undefined ? undefined : this.transport.waitMs(server);
  }

  private streamBody(
    response: Dispatcher.ResponseData,
    server: Server,
    signal: AbortSignal | undefined,
  ): AsyncIterable<Uint8Array> {
    const observer = {
      onBytes: () => server.watch.heard(),
      onLost: () => this.transport.moveOn(server, failedRestMs),
    };
    return observedBody(response.body, server.url.origin, observer, signal);
  }

  private async attempt<R>(
    server: Server,
    method: string,
    path: string,
    options: RequestOptions,
    remainingMs: number,
    isStream: boolean,
    consume: (response: Dispatcher.ResponseData, server: Server) => Promise<R>,
  ): Promise<R> {
    const abort = new AbortController();
    const onAbort = () => abort.abort(options.signal?.reason);
    if (options.signal?.aborted) throw options.signal.reason;
    options.signal?.addEventListener('abort', onAbort, { once: true });
    const closed = server.watch.opened();
    const release = () => {
      options.signal?.removeEventListener('abort', onAbort);
      closed();
    };
    const deadline = this.clock.setTimer(remainingMs, () =>
      abort.abort(new TransportError('timeout', `${method} ${path} exceeded its deadline`, true)),
    );
    let handedOver = false;
    let statusCode: number | undefined;
    try {
      const { body, headers } = encodeRequest(options, this.fixedHeaders, this.options);
      const response = await (isStream ? server.streams : server.requests).request({
        method: method as Dispatcher.HttpMethod,
        path: `${server.basePath}${path}${queryString(options.query)}`,
        headers,
        body,
        signal: abort.signal,
      });
      server.watch.heard();
      statusCode = response.statusCode;
      if (statusCode >= 400) {
        if (statusCode === 401) this.options.onUnauthorized?.();
        const text = (await readAll(response.body)).toString('utf8');
        throw fromResponse(statusCode, text, singleHeader(response.headers['retry-after']));
      }
      if (isStream) {
        handedOver = true;
        response.body.once('close', release);
      }
      return await consume(response, server);
    } finally {
      deadline.cancel();
      this.options.metrics?.completed(method, server.url, statusCode);
      if (!handedOver) release();
    }
  }
}

function isTimeout(error: ApiError | TransportError): boolean {
  return error instanceof TransportError && error.code === 'timeout';
}
