/** What goes into the REST client and what comes out of it. */
import type { Clock, Logger } from '@orch/component';
import type { ClientMetrics } from './client-metrics.js';

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
  metrics?: ClientMetrics;
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

/** Requests to one cluster, wherever they are sent from there. */
export interface Requester {
  /** Any request; answers of 400 and above are thrown as `ApiError`. */
  request(method: string, path: string, options?: RequestOptions): Promise<RestResponse>;
  /** As `request`, but the body is handed over as it arrives. No deadline after the headers. */
  stream(method: string, path: string, options?: RequestOptions): Promise<StreamResponse>;
}
