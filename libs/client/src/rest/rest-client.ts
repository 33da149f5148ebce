/** The REST client: connections, failover, limits and typed handles on resources. */
import { type Clock, sleep, systemClock } from '@orch/component';
import type { Dispatcher } from 'undici';
import type { ApiObject } from '../objects.js';
import type { ApiClient } from './api-client.js';
import { ApiError, fromResponse } from './api-error.js';
import { type Discovery, discover } from './discovery.js';
import { Exchange } from './exchange.js';
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
    const { foreground } = this.transport;
    const { yieldMs, signal } = options;
    if (yieldMs === undefined) foreground.begin();
    else await foreground.whenQuiet(this.clock.monotonicMs() + yieldMs, signal);
    const startMs = this.clock.monotonicMs();
    const { current } = this.transport;
    try {
      return await this.perform(startMs, method, path, options, (server, remainingMs) =>
        this.exchange(server, method, path, options, remainingMs),
      );
    } finally {
      const endMs = this.clock.monotonicMs();
      if (yieldMs === undefined) foreground.end(endMs);
      this.options.metrics?.took(method, current.url, path, (endMs - startMs) / 1_000);
    }
  }

  stream(method: string, path: string, options: RequestOptions = {}): Promise<StreamResponse> {
    const startMs = this.clock.monotonicMs();
    return this.perform(startMs, method, path, options, (server, remainingMs) =>
      this.openStream(server, method, path, options, remainingMs),
    );
  }

  discover(): Promise<Discovery> {
    return discover(this);
  }

  async close(): Promise<void> {
    this.closed = true;
    if (!this.isDerived) await this.transport.close();
  }

  /** The loop of attempts around one request. */
  private async perform<R>(
    startMs: number,
    method: string,
    path: string,
    options: RequestOptions,
    attempt: (server: Server, remainingMs: number) => Promise<R>,
  ): Promise<R> {
    const timeoutMs = options.timeoutMs ?? this.options.requestTimeoutMs ?? defaultTimeoutMs;
    const deadlineMs = startMs + timeoutMs;
    let attemptMs = startMs;
    for (let attemptCount = 1; ; attemptCount++) {
      if (this.closed) throw new TransportError('client_closed', 'the client is closed', false);
      await this.limit.acquire(attemptMs, deadlineMs, options.signal);
      const sentMs = this.clock.monotonicMs();
      const server = this.transport.current;
      this.options.metrics?.waited(method, server.url, path, (sentMs - attemptMs) / 1_000);
      try {
        return await attempt(server, deadlineMs - sentMs);
      } catch (error) {
        if (options.signal?.aborted) throw options.signal.reason;
        const failure =
          error instanceof ApiError ? error : fromSocketError(error, server.url.origin);
        if (isTimeout(failure) && !server.watch.heardSince(attemptMs))
          this.transport.suspect(server);
        const delayMs = this.afterFailure(server, method, failure, attemptCount);
        const isFinal = options.sendOnce || delayMs === undefined;
        if (isFinal || this.clock.monotonicMs() + delayMs > deadlineMs) throw failure;
        this.options.logger?.debug(
          { method, path, attempt: attemptCount, delayMs, err: failure },
          'request is retried',
        );
        await sleep(delayMs, options.signal, this.clock);
        attemptMs = this.clock.monotonicMs();
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

  /** One attempt of a request, with its complete response. */
  private async exchange(
    server: Server,
    method: string,
    path: string,
    options: RequestOptions,
    remainingMs: number,
  ): Promise<RestResponse> {
    const { signal } = options;
    if (signal?.aborted) throw signal.reason;
    const exchange = new Exchange(() => server.watch.heard());
    const onAbort = signal && (() => exchange.abort(signal.reason));
    if (onAbort) signal.addEventListener('abort', onAbort, { once: true });
    const closed = server.watch.opened();
    const deadline = this.clock.setTimer(remainingMs, () =>
      exchange.abort(deadlineExceeded(method, path)),
    );
    try {
      const message = this.messageOf(server, method, path, options);
      const response = await exchange.send(server.requests, message);
      if (response.statusCode >= 400) this.refuse(response);
      return response;
    } finally {
      deadline.cancel();
      closed();
      if (onAbort) signal.removeEventListener('abort', onAbort);
      this.options.metrics?.completed(method, server.url, exchange.statusCode);
    }
  }

  /** One attempt to open a stream. The deadline applies until its headers arrive. */
  private async openStream(
    server: Server,
    method: string,
    path: string,
    options: RequestOptions,
    remainingMs: number,
  ): Promise<StreamResponse> {
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
      abort.abort(deadlineExceeded(method, path)),
    );
    let isOpen = false;
    let statusCode: number | undefined;
    try {
      const message = this.messageOf(server, method, path, options);
      const response = await server.streams.request({ ...message, signal: abort.signal });
      server.watch.heard();
      const { headers, body } = response;
      statusCode = response.statusCode;
      if (statusCode >= 400) {
        this.refuse(new BufferedResponse(statusCode, headers, await readAll(body)));
      }
      isOpen = true;
      body.once('close', release);
      return { statusCode, headers, body: this.streamBody(response, server, options.signal) };
    } finally {
      deadline.cancel();
      this.options.metrics?.completed(method, server.url, statusCode);
      if (!isOpen) release();
    }
  }

  private messageOf(
    server: Server,
    method: string,
    path: string,
    options: RequestOptions,
  ): Dispatcher.DispatchOptions {
    const { body, headers } = encodeRequest(options, this.fixedHeaders, this.options);
    return {
      method: method as Dispatcher.HttpMethod,
      path: `${server.basePath}${path}${queryString(options.query)}`,
      headers,
      body,
    };
  }

  /** Throws the error that a response of 400 or above describes. */
  private refuse({ statusCode, headers, body }: RestResponse): never {
    if (statusCode === 401) this.options.onUnauthorized?.();
    throw fromResponse(statusCode, body.toString('utf8'), singleHeader(headers['retry-after']));
  }
}

function deadlineExceeded(method: string, path: string): TransportError {
  return new TransportError('timeout', `${method} ${path} exceeded its deadline`, true);
}

function isTimeout(error: ApiError | TransportError): boolean {
  return error instanceof TransportError && error.code === 'timeout';
}
