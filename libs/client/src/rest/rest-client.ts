/** The REST client: connections, failover, limits and typed handles on resources. */
import { type Clock, dialect, type Logger, systemClock } from '@orch/component';
import type { Dispatcher } from 'undici';
import { limits } from '../limits.js';
import type { ApiObject } from '../objects.js';
import { ApiError, fromResponse } from './api-error.js';
import { type Discovery, discover } from './discovery.js';
import { RateLimit } from './rate-limit.js';
import type { ResourceClient } from './resource-client.js';
import type { ResourceRef } from './resource-ref.js';
import { RestResourceClient } from './rest-resource-client.js';
import { retryDelayMs, shouldMoveOn } from './retry-policy.js';
import { type Server, Transport } from './transport.js';
import { fromSocketError, TransportError } from './transport-error.js';
import { waitMs } from './wait.js';

export interface RestClientOptions {
  /** Base URLs; requests stay on one until it fails, then move to the next. */
  servers: readonly string[];
  /** PEM bundle that server certificates must chain to; the system's when left out. */
  ca?: string | Buffer;
  /** PEM client certificate and its key. */
  clientCertificate?: { certificate: string | Buffer; key: string | Buffer };
  /** Bearer token, or a function asked before each request (rotating tokens). */
  token?: string | (() => string | undefined);
  basicAuth?: { username: string; password: string };
  /** Accept any server certificate. */
  insecureSkipTlsVerify?: boolean;
  /** Name to expect in the server's certificate, when it differs from the host in the URL. */
  tlsServerName?: string;
  impersonate?: { user: string; groups?: readonly string[]; uid?: string };
  userAgent?: string;
  /** Requests per second on average; 0 is unlimited. Lower slows everything, higher may get 429. */
  qps?: number;
  /** Requests that may go out at once before `qps` holds. */
  burst?: number;
  /** Deadline of a request that is not a stream, retries included. */
  requestTimeoutMs?: number;
  /** Connections per server. Fewer queue requests, more cost memory on both sides. */
  connectionsMax?: number;
  logger?: Logger;
  clock?: Clock;
  random?: () => number;
}

export type QueryValue = string | number | boolean | readonly string[] | undefined;

export interface RequestOptions {
  query?: Record<string, QueryValue>;
  headers?: Record<string, string>;
  /** A string or bytes go out as they are; anything else as JSON. */
  body?: unknown;
  /** Deadline, attempts and the waits between them included. */
  timeoutMs?: number;
  /** Sends once, whatever comes: for callers with a rhythm of their own. */
  sendOnce?: boolean;
  signal?: AbortSignal;
}

export interface RestResponse {
  readonly statusCode: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Buffer;
  json<T>(): T;
}

export interface StreamResponse {
  readonly statusCode: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: AsyncIterable<Uint8Array>;
}

const defaultTimeoutMs = 60_000;

export class RestClient {
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

  /** Any request; answers of 400 and above are thrown as `ApiError`. */
  request(method: string, path: string, options: RequestOptions = {}): Promise<RestResponse> {
    return this.perform(method, path, options, false, async (answer) => {
      const body = await readAll(answer.body);
      return new BufferedResponse(answer.statusCode, answer.headers, body);
    });
  }

  /** As `request`, but the body is handed over as it arrives. No deadline after the headers. */
  stream(method: string, path: string, options: RequestOptions = {}): Promise<StreamResponse> {
    return this.perform(method, path, options, true, async (answer, server) => ({
      statusCode: answer.statusCode,
      headers: answer.headers,
      body: withTransportErrors(answer.body, server, options.signal),
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

  /** The loop of attempts around one request. */
  private async perform<R>(
    method: string,
    path: string,
    options: RequestOptions,
    isStream: boolean,
    consume: (answer: Dispatcher.ResponseData, server: string) => Promise<R>,
  ): Promise<R> {
    const timeoutMs = options.timeoutMs ?? this.options.requestTimeoutMs ?? defaultTimeoutMs;
    const deadlineMs = this.clock.monotonicMs() + timeoutMs;
    for (let attemptCount = 1; ; attemptCount++) {
      if (this.closed) throw new TransportError('client_closed', 'the client is closed', false);
      const remainingMs = deadlineMs - this.clock.monotonicMs();
      await this.limit.acquire(remainingMs, options.signal);
      const server = this.transport.current;
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
        if (shouldMoveOn(failure)) this.transport.moveOn(server);
        const delayMs = options.sendOnce
          ? undefined
          : retryDelayMs(method, failure, attemptCount, this.random);
        if (delayMs === undefined || this.clock.monotonicMs() + delayMs > deadlineMs) throw failure;
        this.options.logger?.debug(
          { method, path, attempt: attemptCount, delayMs, err: failure },
          'request is sent again',
        );
        await waitMs(this.clock, delayMs, options.signal);
      }
    }
  }

  private async attempt<R>(
    server: Server,
    method: string,
    path: string,
    options: RequestOptions,
    remainingMs: number,
    isStream: boolean,
    consume: (answer: Dispatcher.ResponseData, server: string) => Promise<R>,
  ): Promise<R> {
    const abort = new AbortController();
    const onAbort = () => abort.abort(options.signal?.reason);
    if (options.signal?.aborted) throw options.signal.reason;
    options.signal?.addEventListener('abort', onAbort, { once: true });
    const unlink = () => options.signal?.removeEventListener('abort', onAbort);
    const deadline = this.clock.setTimer(remainingMs, () =>
      abort.abort(
        new TransportError('timeout', `${method} ${path} took longer than its deadline`, true),
      ),
    );
    let handedOver = false;
    try {
      const { body, headers } = this.encode(options);
      const answer = await (isStream ? server.streams : server.requests).request({
        method: method as Dispatcher.HttpMethod,
        path: `${server.basePath}${path}${queryString(options.query)}`,
        headers,
        body,
        signal: abort.signal,
      });
      if (answer.statusCode >= 400) {
        const text = (await readAll(answer.body)).toString('utf8');
        throw fromResponse(answer.statusCode, text, singleHeader(answer.headers['retry-after']));
      }
      if (isStream) {
        handedOver = true;
        answer.body.once('close', unlink);
      }
      return await consume(answer, server.url.origin);
    } finally {
      deadline.cancel();
      if (!handedOver) unlink();
    }
  }

  private encode(options: RequestOptions) {
    const headers: Record<string, string | string[]> = { ...this.fixedHeaders };
    const token =
      typeof this.options.token === 'function' ? this.options.token() : this.options.token;
    if (token) headers.authorization = `Bearer ${token}`;
    let body: string | Uint8Array | null = null;
    if (typeof options.body === 'string' || options.body instanceof Uint8Array) {
      body = options.body;
    } else if (options.body !== undefined) {
      body = JSON.stringify(options.body);
    }
    if (body !== null) headers['content-type'] = 'application/json';
    for (const [name, value] of Object.entries(options.headers ?? {})) {
      headers[name.toLowerCase()] = value;
    }
    return { body, headers };
  }
}

function fixedHeaders(options: RestClientOptions): Record<string, string | string[]> {
  const headers: Record<string, string | string[]> = {
    accept: 'application/json',
    'user-agent': options.userAgent ?? dialect().systemName('client'),
  };
  if (options.basicAuth) {
    const { username, password } = options.basicAuth;
    headers.authorization = `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;
  }
  if (options.impersonate) {
    headers['impersonate-user'] = options.impersonate.user;
    if (options.impersonate.uid) headers['impersonate-uid'] = options.impersonate.uid;
    if (options.impersonate.groups?.length) {
      headers['impersonate-group'] = [...options.impersonate.groups];
    }
  }
  return headers;
}

export function queryString(query: RequestOptions['query']): string {
  if (!query) return '';
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value === undefined) continue;
    if (Array.isArray(value)) for (const one of value) parameters.append(name, one);
    else parameters.append(name, String(value));
  }
  const text = parameters.toString();
  return text === '' ? '' : `?${text}`;
}

function singleHeader(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value[0] : value;
}

class BufferedResponse implements RestResponse {
  constructor(
    readonly statusCode: number,
    readonly headers: RestResponse['headers'],
    readonly body: Buffer,
  ) {}

  json<T>(): T {
    return JSON.parse(this.body.toString('utf8')) as T;
  }
}

async function readAll(body: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let byteCount = 0;
  for await (const chunk of body) {
    byteCount += chunk.byteLength;
    if (byteCount > limits.responseBytesMax) {
      throw new TransportError('response_too_large', `answer exceeds ${byteCount} bytes`, true);
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, byteCount);
}

async function* withTransportErrors(
  body: AsyncIterable<Uint8Array>,
  server: string,
  signal: AbortSignal | undefined,
): AsyncIterable<Uint8Array> {
  try {
    yield* body;
  } catch (error) {
    if (signal?.aborted) throw signal.reason;
    throw fromSocketError(error, server);
  }
}
