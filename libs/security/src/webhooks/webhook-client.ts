/**
 * Requests to webhooks that objects of the API register: a JSON document each way, within a
 * deadline. The server is named by URL or by a service of the cluster, and is authenticated by the
 * CA bundle of its configuration or the trusted roots of the runtime. Requests to the same server
 * share its connections.
 */
import { createHash } from 'node:crypto';
import type { Agent } from 'node:https';
import {
  Deadline,
  type Dial,
  type EndSignal,
  errorCode,
  httpsAgent,
  sleep,
  type UserCredentials,
} from '@orch/component';
import { LRUCache } from 'lru-cache';
import { webhookClientsMax, webhookRedirectCountMax, webhookRetryCountMax } from '../limits.js';
import { type HttpPost, type HttpPostResponse, post, ResponseSizeError } from './http-post.js';
import { authorizationOf, keptConnections } from './kubeconfig-agent.js';
import { failureMessage, isSuccess } from './response-failure.js';
import { type ServiceResolver, serviceAgent } from './service-agent.js';

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

/** Without credentials, the server sees no client certificate. */
function tlsOf({ caBundle = '' }: WebhookAddress, credentials: UserCredentials | undefined) {
  return {
    ...keptConnections,
    ...(caBundle !== '' && { ca: Buffer.from(caBundle, 'base64') }),
    ...(credentials?.clientCertificatePem && { cert: credentials.clientCertificatePem }),
    ...(credentials?.clientKeyPem && { key: credentials.clientKeyPem }),
  };
}

const servicePort = 443;
const tooManyRequests = 429;

export class WebhookClient {
  /** By what their connections depend on. Calls in flight keep their connections. */
  private readonly agents = new LRUCache<string, Agent>({
    max: webhookClientsMax,
    dispose: closeIdle,
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
    for (const agent of this.agents.values()) agent.destroy();
    this.agents.clear();
  }

  private async callUntil(signal: EndSignal, call: WebhookCall): Promise<HttpPostResponse> {
    const { credentials, timeoutMs, userAgent, body, responseBytesMax } = call;
    const server = serverOf(call.address);
    const url = new URL(server.url);
    url.searchParams.set('timeout', `${Math.ceil(timeoutMs / 1_000)}s`);
    const authorization = credentials && (await authorizationOf(credentials));
    const headers = {
      host: server.host,
      'user-agent': userAgent,
      ...(authorization !== undefined && { authorization }),
    };
    const redirectCountMax = webhookRedirectCountMax;
    const request = { url, headers, body, signal, responseBytesMax, redirectCountMax };
    try {
      const response = await withRetries({ ...request, agent: await this.agentOf(call) });
      if (isSuccess(response)) return response;
      throw new WebhookError(failureMessage(response));
    } catch (error) {
      if (error instanceof WebhookError) throw error;
      const shown = `${url.protocol}//${server.host}${url.pathname}${url.search}`;
      throw new WebhookError(`Post "${shown}": ${causeOf(error, signal, url)}`, { cause: error });
    }
  }

  /** Rejects if the service has no endpoint. */
  private agentOf({ address, credentials, timeoutMs }: WebhookCall): Agent | Promise<Agent> {
    const key = `${this.numberOf(credentials)} ${serverOf(address).key}`;
    const { service } = address;
    if (!service) {
      const create = () => httpsAgent(tlsOf(address, credentials), this.egress.controlPlane);
      return this.agentFor(key, create);
    }
    const { namespace, name, port = servicePort } = service;
    return this.resolve({ namespace, name, port }, timeoutMs).then((endpoint) =>
      this.agentFor(`${key} ${endpoint.host}:${endpoint.port}`, () =>
        serviceAgent(tlsOf(address, credentials), endpoint, this.egress.cluster),
      ),
    );
  }

  private agentFor(key: string, create: () => Agent): Agent {
    let agent = this.agents.get(key);
    if (!agent) {
      agent = create();
      this.agents.set(key, agent);
    }
    return agent;
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

function closeIdle({ freeSockets }: Agent): void {
  for (const sockets of Object.values(freeSockets)) {
    for (const socket of sockets ?? []) socket.destroy();
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

const closedCodes: ReadonlySet<string> = new Set(['ECONNRESET', 'EPIPE']);

/** In the words of the interface where clients know them. */
function causeOf(error: unknown, signal: EndSignal, { hostname, port }: URL): string {
  if (signal.aborted) return 'context deadline exceeded';
  if (error instanceof ResponseSizeError) return error.message;
  const code = errorCode(error) ?? '';
  if (code === 'ECONNREFUSED') {
    return `dial tcp ${hostname}:${port || servicePort}: connect: connection refused`;
  }
  if (code === 'ENOTFOUND') return `dial tcp: lookup ${hostname}: no such host`;
  if (closedCodes.has(code)) return 'EOF';
  return error instanceof Error ? error.message : String(error);
}
