/**
 * The HTTPS server (HTTP without TLS settings) of a component: health, metrics, current
 * configuration and profiles. It reads no request bodies. The authorizer decides about all paths
 * except `alwaysAllowPaths`; without an authorizer every path is open, which only ports for health
 * and metrics, and loopback ports in tests, may use.
 */
import {
  createServer as createHttpServer,
  type IncomingMessage,
  type ServerResponse,
  STATUS_CODES,
} from 'node:http';
import { createServer as createHttpsServer, Server as HttpsServer } from 'node:https';
import type { Server } from 'node:net';
import type { Duplex } from 'node:stream';
import { errorCode } from '../errors/thrown.js';
import {
  type HealthChecks,
  type HealthResponse,
  healthEndpoints,
  healthQuery,
} from '../health/health-checks.js';
import { servingConnectionCountMax, servingRequestTimeoutMs } from '../limits.js';
import type { Logger } from '../logging/logger.js';
import type { Metrics } from '../metrics/metrics.js';
import { type ServerTls, serverTlsOptions } from '../tls/tls-options.js';
import { DebugPages } from './debug-pages.js';
import { ProfileRunningError } from './profiles.js';
import type { RequestAuthorizer } from './request-authorizer.js';
import { type ServingAuthentication, servingRequest } from './serving-request.js';

/** Responds to authorized requests for one path. */
export type Page = (query: URLSearchParams) => HealthResponse;

export interface ComponentServerOptions {
  readonly bindAddress: string;
  /** 0 selects any free port; see `ComponentServer.port`. */
  readonly port: number;
  /** Plain HTTP if absent. */
  readonly tls?: ServerTls;
  readonly health: HealthChecks;
  readonly metrics: Metrics;
  /**
   * Returns the effective configuration by component name, without secrets. Undefined: it is not
   * served.
   */
  readonly configuration: (() => Readonly<Record<string, object>>) | undefined;
  /** Pages of the component, by path. */
  readonly pages?: Readonly<Record<string, Page>>;
  readonly authorizer?: RequestAuthorizer;
  /** Authenticates connections; by default by the certificates that TLS has verified. */
  readonly authentication?: ServingAuthentication;
  readonly alwaysAllowPaths: readonly string[];
  readonly profiling: boolean;
  /** Whether delays of the event loop are recorded. */
  readonly contentionProfiling: boolean;
  readonly logger: Logger;
  /** Handles all other paths; returns false for an unknown path. */
  readonly fallback?: (request: IncomingMessage, response: ServerResponse) => boolean;
  /**
   * Handles upgrade requests; returns false for an unknown path. Without it, no connection is
   * upgraded.
   */
  readonly upgrade?: (request: IncomingMessage, socket: Duplex, head: Buffer) => boolean;
}

const plainText = 'text/plain; charset=utf-8';

export class ComponentServer {
  private readonly server: Server & { closeAllConnections(): void };
  /** Upgraded connections, which the HTTP server no longer tracks. */
  private readonly upgraded = new Set<Duplex>();
  private readonly debugPages: DebugPages;

  constructor(private readonly options: ComponentServerOptions) {
    this.debugPages = new DebugPages(options);
    const listener = (request: IncomingMessage, response: ServerResponse) => {
      this.handle(request, response).catch((error: unknown) => {
        if (error instanceof ProfileRunningError) {
          send(response, 503, plainText, `${error.message}\n`);
          return;
        }
        options.logger.error({ err: error, path: request.url }, 'request failed');
        if (!response.headersSent) send(response, 500, plainText, 'internal server error\n');
        else response.destroy();
      });
    };
    const limits = { requestTimeout: servingRequestTimeoutMs, keepAliveTimeout: 5_000 };
    this.server = options.tls
      ? createHttpsServer({ ...limits, ...serverTlsOptions(options.tls) }, listener)
      : createHttpServer(limits, listener);
    this.server.maxConnections = servingConnectionCountMax;
    if (!options.upgrade) return;
    this.server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) =>
      this.startUpgrade(request, socket, head),
    );
  }

  /** The listening port, after `start`. */
  get port(): number {
    const address = this.server.address();
    return address !== null && typeof address === 'object' ? address.port : this.options.port;
  }

  async start(): Promise<void> {
    const { bindAddress, port } = this.options;
    await new Promise<void>((resolve, reject) => {
      this.server.once('error', (error) => {
        const inUse = errorCode(error) === 'EADDRINUSE';
        reject(
          inUse
            ? new Error(`${bindAddress}:${port} is in use; choose another port`, { cause: error })
            : error,
        );
      });
      this.server.listen(port, bindAddress, resolve);
    });
  }

  /** Serves new connections with other certificates. */
  replaceTls(tls: ServerTls): void {
    if (this.server instanceof HttpsServer) this.server.setSecureContext(serverTlsOptions(tls));
  }

  /** Stops immediately and closes all connections, including streams. */
  async stop(): Promise<void> {
    this.server.closeAllConnections();
    for (const socket of this.upgraded) socket.destroy();
    this.debugPages.stop();
    await new Promise<void>((resolve) => this.server.close(() => resolve()));
  }

  private async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', 'http://component');
    const path = url.pathname;
    const rejection = await this.rejection(request, path);
    if (rejection) {
      send(response, rejection.statusCode, plainText, `${rejection.reason}\n`);
      return;
    }
    const own = await this.ownResponse(url, path);
    if (own) send(response, own.statusCode, own.contentType, own.body);
    else if (!this.options.fallback?.(request, response)) {
      send(response, 404, plainText, '404 page not found\n');
    }
  }

  /**
   * Returns the status and reason if the authorizer denies the request; undefined if it is allowed.
   */
  private async rejection(
    request: IncomingMessage,
    path: string,
  ): Promise<{ statusCode: number; reason: string } | undefined> {
    if (!this.options.authorizer || this.isOpen(path)) return undefined;
    const { authorizer, authentication } = this.options;
    const authenticate = authentication?.authenticate.bind(authentication);
    const decision = await authorizer.decide(await servingRequest(request, path, authenticate));
    if (decision.kind === 'allowed') return undefined;
    return { statusCode: decision.kind === 'forbidden' ? 403 : 401, reason: decision.reason };
  }

  private startUpgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    this.upgraded.add(socket);
    socket.once('close', () => this.upgraded.delete(socket));
    socket.on('error', () => socket.destroy());
    this.handleUpgrade(request, socket, head).catch((error: unknown) => {
      this.options.logger.error({ err: error, path: request.url }, 'upgrade failed');
      socket.destroy();
    });
  }

  private async handleUpgrade(request: IncomingMessage, socket: Duplex, head: Buffer) {
    const { pathname } = new URL(request.url ?? '/', 'http://component');
    const rejection = await this.rejection(request, pathname);
    if (socket.destroyed) return;
    if (rejection) refuseUpgrade(socket, rejection.statusCode, rejection.reason);
    else if (!this.options.upgrade?.(request, socket, head)) {
      refuseUpgrade(socket, 404, '404 page not found');
    }
  }

  private isOpen(path: string): boolean {
    return this.options.alwaysAllowPaths.some((allowed) =>
      allowed.endsWith('*') ? path.startsWith(allowed.slice(0, -1)) : path === allowed,
    );
  }

  /** Returns the response for a path of this server; undefined for any other path. */
  private async ownResponse(url: URL, path: string): Promise<HealthResponse | undefined> {
    const { health, metrics, pages = {} } = this.options;
    for (const endpoint of healthEndpoints) {
      if (path === `/${endpoint}`) return health.report(endpoint, healthQuery(url.searchParams));
      const prefix = `/${endpoint}/`;
      if (path.startsWith(prefix)) return health.reportOne(endpoint, path.slice(prefix.length));
    }
    if (path === '/metrics') {
      return { statusCode: 200, contentType: metrics.contentType, body: await metrics.render() };
    }
    const page = Object.hasOwn(pages, path) ? pages[path] : undefined;
    if (page) return page(url.searchParams);
    const debugPage = await this.debugPages.page(path, url.searchParams);
    return debugPage && { statusCode: 200, ...debugPage };
  }
}

/** Responds to an upgrade request with an error message and closes the connection. */
export function refuseUpgrade(
  socket: Duplex,
  statusCode: number,
  message: string,
  headers: Readonly<Record<string, string>> = {},
): void {
  const body = `${message}\n`;
  const lines = [
    `HTTP/1.1 ${statusCode} ${STATUS_CODES[statusCode] ?? ''}`,
    `content-type: ${plainText}`,
    `content-length: ${Buffer.byteLength(body)}`,
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    'connection: close',
  ];
  socket.end(`${lines.join('\r\n')}\r\n\r\n${body}`);
}

function send(
  response: ServerResponse,
  statusCode: number,
  contentType: string,
  body: string,
): void {
  response.writeHead(statusCode, {
    'content-type': contentType,
    'content-length': Buffer.byteLength(body),
    'cache-control': 'no-cache, private',
    'x-content-type-options': 'nosniff',
  });
  response.end(body);
}
