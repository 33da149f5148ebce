/**
 * Requests to webhooks that objects of the API register: a JSON document each way, within a
 * deadline. The server is named by URL or by a service of the cluster, and is authenticated by the
 * CA bundle of its configuration or the trusted roots of the runtime. Requests to the same server
 * share its connections.
 */
import { createHash } from 'node:crypto';
import {
  Deadline,
  type Dial,
  type EndSignal,
  errorCode,
  sleep,
  type UserCredentials,
} from '@orch/component';
import { LRUCache } from 'lru-cache';
import { webhookClientsMax, webhookRedirectCountMax, webhookRetryCountMax } from '../limits.js';
import { ConnectionPool } from './connection-pool.js';
import { ConnectionClosedError, ResponseSizeError } from './exchange.js';
import { type HttpPost, type HttpPostResponse, post } from './http-post.js';
import { authorizationOf } from './kubeconfig-connections.js';
import { failureMessage, isSuccess } from './response-failure.js';
import type { ServiceEndpoint, ServiceResolver } from './service-endpoint.js';

/** The address of a webhook, as in configurations. */
export interface WebhookAddress {
  readonly url?: string;
  readonly service?: {
    readonly namespace: string;
    readonly name: string;
    readonly path?: string;
    readonly port?: number;
  };
  /** Base64 of PEM. */
  readonly caBundle?: string;
}

export interface WebhookCall {
  readonly address: WebhookAddress;
  /** The JSON document to send. */
  readonly body: string;
  readonly timeoutMs: number;
  readonly responseBytesMax: number;
  readonly userAgent: string;
  /**
   * The credentials of this server: the same object for the same webhook, so that requests share
   * connections.
   */
  readonly credentials?: UserCredentials;
}

/** The call failed; the message says why and may be shown to clients. */
export class WebhookError extends Error {
  override readonly name = 'WebhookError';
}

/** How connections to webhooks are opened. Absent: they are direct. */
export interface WebhookEgress {
  /** For webhooks of services. */
  readonly cluster?: Dial;
  /** For webhooks with a URL. */
  readonly controlPlane?: Dial;
}

/** What follows from an address; computed once for each, because every request needs it. */
interface WebhookServer {
  readonly url: string;
  /** The URL of the last request; those of most requests are equal. */
  last?: { readonly seconds: number; readonly url: URL };
  /** With the port, also if it is the default. */
  readonly host: string;
  /** The same for addresses that may share connections, for services at the same endpoint. */
  readonly key: string;
}

const servers = new WeakMap<WebhookAddress, WebhookServer>();

/** Throws WebhookError. */
function serverOf(address: WebhookAddress): WebhookServer {
  let server = servers.get(address);
  if (!server) {
    server = serverAt(address);
    servers.set(address, server);
  }
  return server;
}

function serverAt({ url, service, caBundle = '' }: WebhookAddress): WebhookServer {
  const authority = createHash('sha256').update(caBundle).digest('base64');
  if (url !== undefined) {
    const target = withoutSlash(new URL(url));
    return { url: target.href, host: target.host, key: `url ${authority}` };
  }
  if (!service) {
    throw new WebhookError('webhook configuration must have either service or URL');
  }
  const { namespace, name, port = servicePort, path = '/' } = service;
  const host = `${name}.${namespace}.svc:${port}`;
  const { href } = withoutSlash(new URL(path, `https://${host}`));
  return { url: href, host, key: `service ${namespace}/${name}:${port} ${authority}` };
}

/** With the time for which this server waits for the response. */
function requestUrl(server: WebhookServer, timeoutMs: number): URL {
  const seconds = Math.ceil(timeoutMs / 1_000);
  if (server.last?.seconds === seconds) return server.last.url;
  const url = new URL(server.url);
  url.searchParams.set('timeout', `${seconds}s`);
  server.last = { seconds, url };
  return url;
}

/** Without credentials, the server sees no client certificate. */
function tlsOf({ caBundle = '' }: WebhookAddress, credentials: UserCredentials | undefined) {
  return {
    ...(caBundle !== '' && { ca: Buffer.from(caBundle, 'base64') }),
    ...(credentials?.clientCertificatePem && { cert: credentials.clientCertificatePem }),
    ...(credentials?.clientKeyPem && { key: credentials.clientKeyPem }),
  };
}

const servicePort = 443;
const tooManyRequests = 429;

export class WebhookClient {
  /** By what their connections depend on. Calls in flight keep their connections. */
  private readonly pools = new LRUCache<string, ConnectionPool>({
    max: webhookClientsMax,
    dispose: (pool) => pool.retire(),
  });
  private readonly credentialNumbers = new WeakMap<UserCredentials, number>();
  private credentialCount = 0;

  constructor(
    private readonly resolve: ServiceResolver,
    private readonly egress: WebhookEgress = {},
  ) {}

  /** Returns the body of the response. Throws WebhookError. */
  async call(call: WebhookCall): Promise<HttpPostResponse> {
    const timeoutMs = Math.ceil(call.timeoutMs);
    const deadline = new Deadline(timeoutMs, 'the call of a webhook');
    try {
      return await this.callUntil(deadline, { ...call, timeoutMs });
    } finally {
      deadline.clear();
    }
  }

  close(): void {
    for (const pool of this.pools.values()) pool.close();
    this.pools.clear();
  }

  private async callUntil(signal: EndSignal, call: WebhookCall): Promise<HttpPostResponse> {
    const { credentials, timeoutMs, userAgent, body, responseBytesMax } = call;
    const server = serverOf(call.address);
    const url = requestUrl(server, timeoutMs);
    const authorization = credentials && (await authorizationOf(credentials));
    const headers = {
      host: server.host,
      'user-agent': userAgent,
      ...(authorization !== undefined && { authorization }),
    };
    const redirectCountMax = webhookRedirectCountMax;
    const request = { url, headers, body, signal, responseBytesMax, redirectCountMax };
    try {
      const response = await withRetries({ ...request, pool: await this.poolOf(call) });
      if (isSuccess(response)) return response;
      throw new WebhookError(failureMessage(response));
    } catch (error) {
      if (error instanceof WebhookError) throw error;
      const shown = `${url.protocol}//${server.host}${url.pathname}${url.search}`;
      throw new WebhookError(`Post "${shown}": ${causeOf(error, signal, url)}`, { cause: error });
    }
  }

  /** Rejects if the service has no endpoint. */
  private poolOf({
    address,
    credentials,
    timeoutMs,
  }: WebhookCall): ConnectionPool | Promise<ConnectionPool> {
    const server = serverOf(address);
    const key = `${this.numberOf(credentials)} ${server.key}`;
    const { service } = address;
    const tls = () => tlsOf(address, credentials);
    if (!service) {
      const dial = this.egress.controlPlane;
      return this.poolFor(key, () => new ConnectionPool({ tls: tls(), dial }));
    }
    const { namespace, name, port = servicePort } = service;
    const create = (endpoint: ServiceEndpoint) => () =>
      new ConnectionPool({
        tls: tls(),
        dial: this.egress.cluster,
        addresses: new Map([[new URL(server.url).origin, endpoint]]),
      });
    return this.resolve({ namespace, name, port }, timeoutMs).then((endpoint) =>
      this.poolFor(`${key} ${endpoint.host}:${endpoint.port}`, create(endpoint)),
    );
  }

  private poolFor(key: string, create: () => ConnectionPool): ConnectionPool {
    let pool = this.pools.get(key);
    if (!pool) {
      pool = create();
      this.pools.set(key, pool);
    }
    return pool;
  }

  /** Keys contain no secrets. */
  private numberOf(credentials: UserCredentials | undefined): number {
    if (!credentials) return 0;
    let number = this.credentialNumbers.get(credentials);
    if (number === undefined) {
      this.credentialCount += 1;
      number = this.credentialCount;
      this.credentialNumbers.set(credentials, number);
    }
    return number;
  }
}

/** The path of a webhook has no slash at its end. */
function withoutSlash(url: URL): URL {
  url.pathname = url.pathname.replace(/\/+$/, '') || '/';
  return url;
}

/** Repeats the request after a response with `Retry-After`. */
async function withRetries(request: HttpPost): Promise<HttpPostResponse> {
  for (let count = 0; ; count += 1) {
    const response = await post(request);
    const { statusCode, retryAfterSeconds } = response;
    const isBusy = statusCode === tooManyRequests || statusCode >= 500;
    if (!isBusy || retryAfterSeconds === undefined || count === webhookRetryCountMax) {
      return response;
    }
    await sleep(retryAfterSeconds * 1_000, request.signal);
  }
}

/** In the words of the interface where clients know them. */
function causeOf(error: unknown, signal: EndSignal, { hostname, port }: URL): string {
  if (signal.aborted) return 'context deadline exceeded';
  if (error instanceof ResponseSizeError) return error.message;
  const code = errorCode(error) ?? '';
  if (code === 'ECONNREFUSED') {
    return `dial tcp ${hostname}:${port || servicePort}: connect: connection refused`;
  }
  if (code === 'ENOTFOUND') return `dial tcp: lookup ${hostname}: no such host`;
  if (error instanceof ConnectionClosedError) return 'EOF';
  return error instanceof Error ? error.message : String(error);
}
