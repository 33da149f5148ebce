/** The options, requests and responses of the REST client. */
import type { Clock, Logger } from '@orch/component';
import type { ClientMetrics } from './client-metrics.js';

export interface RestClientOptions {
  /** Base URLs; requests stay on one until it fails, then move to the next. */
  servers: readonly string[];
  /** PEM bundle that server certificates must chain to; by default that of the system. */
  ca?: string | Buffer;
  /** PEM client certificate and its key. */
  clientCertificate?: { certificate: string | Buffer; key: string | Buffer };
  /** Bearer token, or a function called before each request (rotating tokens). */
  token?: string | (() => string | undefined);
  /** Called when a server responds with 401, which a new token may correct. */
  onUnauthorized?: () => void;
  basicAuth?: { username: string; password: string };
  /** Accepts any server certificate. */
  insecureSkipTlsVerify?: boolean;
  /** Name to expect in the server's certificate, when it differs from the host in the URL. */
  tlsServerName?: string;
  impersonate?: { user: string; groups?: readonly string[]; uid?: string };
  userAgent?: string;
  /** Average requests a second; 0 is unlimited. Higher: more 429. Lower: slower. */
  qps?: number;
  /** Requests that may be sent in a burst before `qps` applies. */
  burst?: number;
  /** Sends objects of built-in kinds as protobuf. By default, and all others: as JSON. */
  sendsProtobuf?: boolean;
  /** Deadline of a request that is not a stream, retries included. */
  requestTimeoutMs?: number;
  logger?: Logger;
  metrics?: ClientMetrics;
  clock?: Clock;
  random?: () => number;
}

/** The options in which clients that share their connections may differ. */
export type DerivedOptions = Pick<
  RestClientOptions,
  'qps' | 'burst' | 'userAgent' | 'token' | 'onUnauthorized' | 'impersonate'
>;

/** What a connection presents and verifies; may be replaced while the client is in use. */
export type TlsCredentials = Pick<RestClientOptions, 'ca' | 'clientCertificate'>;

export type QueryValue = string | number | boolean | readonly string[] | undefined;

export interface RequestOptions {
  query?: Record<string, QueryValue>;
  headers?: Record<string, string>;
  /** Strings and bytes are sent unchanged, other values as JSON. */
  body?: unknown;
  /** The kind of the object in `body`, which may lack `apiVersion` and `kind`. */
  bodyKind?: { readonly apiVersion: string; readonly kind: string };
  /** Deadline, attempts and the waits between them included. */
  timeoutMs?: number;
  /** Disables retries, for callers that retry on their own schedule. */
  sendOnce?: boolean;
  /**
   * Waits while other requests of the client are open, for at most this long and before the
   * deadline begins.
   */
  yieldMs?: number;
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

/** Sends requests to one cluster. */
export interface Requester {
  /** Sends any request. Throws `ApiError` for a response of 400 or above. */
  request(method: string, path: string, options?: RequestOptions): Promise<RestResponse>;
  /** As `request`, but streams the body. No deadline applies after the headers. */
  stream(method: string, path: string, options?: RequestOptions): Promise<StreamResponse>;
}
