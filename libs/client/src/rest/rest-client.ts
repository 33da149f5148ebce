/** The REST client: connections, failover, limits and typed handles on resources. */
import { type Clock, sleep, systemClock } from '@orch/component';
import type { Dispatcher } from 'undici';
import type { ApiObject } from '../objects.js';
import { BufferedResponse, observedBody, readAll } from './answer-body.js';
import { ApiError, fromResponse } from './api-error.js';
import { type Discovery, discover } from './discovery.js';
import { RateLimit } from './rate-limit.js';
import { encodeRequest, fixedHeaders, queryString, singleHeader } from './request-encoding.js';
import type { ResourceClient } from './resource-client.js';
import type { ResourceRef } from './resource-ref.js';
import { RestResourceClient } from './rest-resource-client.js';
import type {
  Requester,
  RequestOptions,
  RestClientOptions,
  RestResponse,
  StreamResponse,
} from './rest-types.js';
import { retryDelayMs, shouldMoveOn } from './retry-policy.js';
import type { Server } from './server.js';
import { Transport } from './transport.js';
import { fromSocketError, TransportError } from './transport-error.js';

const defaultTimeoutMs = 60_000;
/** How long a server is left alone after a failure that is not tried again. */
const failedRestMs = 1_000;

export class RestClient implements Requester {
  private readonly limit: RateLimit;
  private readonly clock: Clock;
  private readonly random: () => number;
  private readonly fixedHeaders: Record<string, string | string[]>;
  private closed = false;

  /** Give no transport: it is for `derive`. */
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

  /**
   * A client over the same connections with a rate limit (and user agent) of its own, so that one user in
   * a process does not wait for another. It ends with this one.
   */
  derive(changes: Pick<RestClientOptions, 'qps' | 'burst' | 'userAgent'>): RestClient {
    return new RestClient({ ...this.options, ...changes }, this.transport, true);
  }

  /** A typed handle. Without a namespace: all namespaces (list, watch), or a cluster-scoped resource. */
  resource<T extends ApiObject>(resource: ResourceRef<T>, namespace?: string): ResourceClient<T> {
    return new RestResourceClient<T>(this, resource, namespace);
  }

  /** As `resource`, but objects come with their metadata alone: for those who need no more. */
  metadata(resource: ResourceRef<ApiObject>, namespace?: string): ResourceClient<ApiObject> {
    return new RestResourceClient<ApiObject>(this, resource, namespace, 'metadata');
  }

  async request(method: string, path: string, options: RequestOptions = {}): Promise<RestResponse> {
    const startMs = this.clock.monotonicMs();
    const { url } = this.transport.current;
    try {
      return await this.perform(method, path, options, false, async (answer) => {
        const body = await readAll(answer.body);
        return new BufferedResponse(answer.statusCode, answer.headers, body);
      });
    } finally {
      this.options.metrics?.took(method, url, path, this.secondsSince(startMs));
    }
  }

  stream(method: string, path: string, options: RequestOptions = {}): Promise<StreamResponse> {
    return this.perform(method, path, options, true, async (answer, server) => ({
      statusCode: answer.statusCode,
      headers: answer.headers,
      body: this.streamBody(answer, server, options.signal),
    }));
  }

  /** Every resource of every served group and version (subresources left out). */
  discover(): Promise<Discovery> {
    return discover(this);
  }

  /** Ends everything that is open; later calls fail. */
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
    consume: (answer: Dispatcher.ResponseData, server: Server) => Promise<R>,
  ): Promise<R> {
    const timeoutMs = options.timeoutMs ?? this.options.requestTimeoutMs ?? defaultTimeoutMs;
    const deadlineMs = this.clock.monotonicMs() + timeoutMs;
    for (let attemptCount = 1; ; attemptCount++) {
      if (this.closed) throw new TransportError('client_closed', 'the client is closed', false);
      const remainingMs = deadlineMs - this.clock.monotonicMs();
      const askedMs = this.clock.monotonicMs();
      await this.limit.acquire(remainingMs, options.signal);
      const server = this.transport.current;
      this.options.metrics?.waited(method, server.url, path, this.secondsSince(askedMs));
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
        const delayMs = this.afterFailure(server, method, failure, attemptCount);
        const isFinal = options.sendOnce || delayMs === undefined;
        if (isFinal || this.clock.monotonicMs() + delayMs > deadlineMs) throw failure;
        this.options.logger?.debug(
          { method, path, attempt: attemptCount, delayMs, err: failure },
          'request is sent again',
        );
        await sleep(delayMs, options.signal, this.clock);
      }
    }
  }

  /** Leaves the server when it is at fault. @returns when to send again, undefined for not. */
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
    answer: Dispatcher.ResponseData,
    server: Server,
    signal: AbortSignal | undefined,
  ): AsyncIterable<Uint8Array> {
    const observer = {
      onBytes: () => server.watch.heard(),
      onBroken: () => this.transport.moveOn(server, failedRestMs),
    };
    return observedBody(answer.body, server.url.origin, observer, signal);
  }

  private async attempt<R>(
    server: Server,
    method: string,
    path: string,
    options: RequestOptions,
    remainingMs: number,
    isStream: boolean,
    consume: (answer: Dispatcher.ResponseData, server: Server) => Promise<R>,
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
      abort.abort(
        new TransportError('timeout', `${method} ${path} took longer than its deadline`, true),
      ),
    );
    let handedOver = false;
    let statusCode: number | undefined;
    try {
      const { body, headers } = encodeRequest(options, this.fixedHeaders, this.options.token);
      const answer = await (isStream ? server.streams : server.requests).request({
        method: method as Dispatcher.HttpMethod,
        path: `${server.basePath}${path}${queryString(options.query)}`,
        headers,
        body,
        signal: abort.signal,
      });
      server.watch.heard();
      statusCode = answer.statusCode;
      if (statusCode >= 400) {
        const text = (await readAll(answer.body)).toString('utf8');
        throw fromResponse(statusCode, text, singleHeader(answer.headers['retry-after']));
      }
      if (isStream) {
        handedOver = true;
        answer.body.once('close', release);
      }
      return await consume(answer, server);
    } finally {
      deadline.cancel();
      this.options.metrics?.answered(method, server.url, statusCode);
      if (!handedOver) release();
    }
  }
}
