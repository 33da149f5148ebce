/**
 * The small HTTPS (or, where a flag asks for it, HTTP) server of a component: health, metrics, current
 * configuration and profiles. It reads no bodies. Paths outside `alwaysAllowPaths` need the authorizer's
 * consent; without an authorizer they are open, which only plain loopback ports of tests may do.
 */
import {
  createServer as createHttpServer,
  type IncomingMessage,
  type ServerResponse,
  STATUS_CODES,
} from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import type { AddressInfo, Server } from 'node:net';
import type { Duplex } from 'node:stream';
import { TLSSocket } from 'node:tls';
import {
  type HealthAnswer,
  type HealthChecks,
  healthEndpoints,
  healthQuery,
} from '../health/health-checks.js';
import { servingConnectionCountMax, servingRequestTimeoutMs } from '../limits.js';
import type { Logger } from '../logging/logger.js';
import type { Metrics } from '../metrics/metrics.js';
import { type ServerTls, serverTlsOptions } from '../tls/tls-options.js';
import { cpuProfile, heapStatistics } from './profiles.js';
import type { RequestAuthorizer, ServingRequest } from './request-authorizer.js';

export interface ComponentServerSettings {
  readonly bindAddress: string;
  /** 0 takes any free port; see `port`. */
  readonly port: number;
  /** Plain HTTP when left out. */
  readonly tls?: ServerTls;
  readonly health: HealthChecks;
  readonly metrics: Metrics;
  /** The effective configuration, by component name. Secrets never. */
  readonly configuration?: () => Readonly<Record<string, object>>;
  readonly authorizer?: RequestAuthorizer;
  readonly alwaysAllowPaths: readonly string[];
  readonly profiling: boolean;
  readonly logger: Logger;
  /** Answers what is not one of the paths here; false when it does not know the path either. */
  readonly fallback?: (request: IncomingMessage, response: ServerResponse) => boolean;
  /**
   * Takes a connection over that is to be upgraded; false when it does not know the path. Without it
   * nothing is ever upgraded.
   */
  readonly upgrade?: (request: IncomingMessage, socket: Duplex, head: Buffer) => boolean;
}

const plainText = 'text/plain; charset=utf-8';

export class ComponentServer {
  private readonly server: Server & { closeAllConnections(): void };
  /** The server's own list does not hold these any more. */
  private readonly upgraded = new Set<Duplex>();

  constructor(private readonly settings: ComponentServerSettings) {
    const listener = (request: IncomingMessage, response: ServerResponse) => {
      this.handle(request, response).catch((error: unknown) => {
        settings.logger.error({ err: error, path: request.url }, 'request failed');
        if (!response.headersSent) send(response, 500, plainText, 'internal server error\n');
        else response.destroy();
      });
    };
    const limits = { requestTimeout: servingRequestTimeoutMs, keepAliveTimeout: 5_000 };
    this.server = settings.tls
      ? createHttpsServer({ ...limits, ...serverTlsOptions(settings.tls) }, listener)
      : createHttpServer(limits, listener);
    this.server.maxConnections = servingConnectionCountMax;
    if (!settings.upgrade) return;
    this.server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) =>
      this.startUpgrade(request, socket, head),
    );
  }

  /** Where it listens, after `start`. */
  get port(): number {
    const address = this.server.address() as AddressInfo | null;
    return address?.port ?? this.settings.port;
  }

  async start(): Promise<void> {
    const { bindAddress, port } = this.settings;
    await new Promise<void>((resolve, reject) => {
      this.server.once('error', (error: NodeJS.ErrnoException) => {
        const inUse = error.code === 'EADDRINUSE';
        reject(
          inUse
            ? new Error(`${bindAddress}:${port} is in use; choose another port`, { cause: error })
            : error,
        );
      });
      this.server.listen(port, bindAddress, resolve);
    });
  }

  /** Ends at once: its requests are short, and streams end with it. */
  async stop(): Promise<void> {
    this.server.closeAllConnections();
    for (const socket of this.upgraded) socket.destroy();
    await new Promise<void>((resolve) => this.server.close(() => resolve()));
  }

  private async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', 'http://component');
    const path = url.pathname;
    const refusal = await this.refusal(request, path);
    if (refusal) {
      send(response, refusal.statusCode, plainText, `${refusal.reason}\n`);
      return;
    }
    const answer = await this.answer(url, path);
    if (answer) send(response, answer.statusCode, answer.contentType, answer.body);
    else if (!this.settings.fallback?.(request, response)) {
      send(response, 404, plainText, '404 page not found\n');
    }
  }

  private async refusal(
    request: IncomingMessage,
    path: string,
  ): Promise<{ statusCode: number; reason: string } | undefined> {
    if (!this.settings.authorizer || this.isOpen(path)) return undefined;
    const decision = await this.settings.authorizer.decide(servingRequest(request, path));
    if (decision.kind === 'allowed') return undefined;
    return { statusCode: decision.kind === 'forbidden' ? 403 : 401, reason: decision.reason };
  }

  private startUpgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    this.upgraded.add(socket);
    socket.once('close', () => this.upgraded.delete(socket));
    socket.on('error', () => socket.destroy());
    this.handleUpgrade(request, socket, head).catch((error: unknown) => {
      this.settings.logger.error({ err: error, path: request.url }, 'upgrade failed');
      socket.destroy();
    });
  }

  private async handleUpgrade(request: IncomingMessage, socket: Duplex, head: Buffer) {
    const { pathname } = new URL(request.url ?? '/', 'http://component');
    const refusal = await this.refusal(request, pathname);
    if (socket.destroyed) return;
    if (refusal) refuseUpgrade(socket, refusal.statusCode, refusal.reason);
    else if (!this.settings.upgrade?.(request, socket, head)) {
      refuseUpgrade(socket, 404, '404 page not found');
    }
  }

  private isOpen(path: string): boolean {
    return this.settings.alwaysAllowPaths.some((allowed) =>
      allowed.endsWith('*') ? path.startsWith(allowed.slice(0, -1)) : path === allowed,
    );
  }

  private async answer(url: URL, path: string): Promise<HealthAnswer | undefined> {
    const { health, metrics, configuration, profiling } = this.settings;
    for (const endpoint of healthEndpoints) {
      if (path === `/${endpoint}`) return health.report(endpoint, healthQuery(url.searchParams));
      const prefix = `/${endpoint}/`;
      if (path.startsWith(prefix)) return health.reportOne(endpoint, path.slice(prefix.length));
    }
    if (path === '/metrics') {
      return { statusCode: 200, contentType: metrics.contentType, body: await metrics.render() };
    }
    if (path === '/configz' && configuration) return json(configuration());
    if (profiling && path === '/debug/pprof/heap') return json(heapStatistics());
    if (profiling && path === '/debug/pprof/profile') {
      return json(await cpuProfile(Number(url.searchParams.get('seconds') ?? 5)));
    }
    return undefined;
  }
}

/** Answers a request for an upgrade with a failure in words, and ends its connection. */
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

/** What the authorizer has to know about a request. */
function servingRequest(request: IncomingMessage, path: string): ServingRequest {
  const header = request.headers.authorization ?? '';
  const bearerToken = /^Bearer +(\S+)$/i.exec(header)?.[1];
  const { socket } = request;
  const subject =
    socket instanceof TLSSocket && socket.authorized
      ? (socket.getPeerCertificate().subject as { CN?: string; O?: string | string[] } | undefined)
      : undefined;
  return {
    path,
    verb: (request.method ?? 'GET').toLowerCase(),
    ...(bearerToken !== undefined && { bearerToken }),
    ...(subject?.CN && {
      clientCertificate: { user: subject.CN, groups: [subject.O ?? []].flat() },
    }),
  };
}

function json(value: unknown): HealthAnswer {
  return { statusCode: 200, contentType: 'application/json', body: JSON.stringify(value) };
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
