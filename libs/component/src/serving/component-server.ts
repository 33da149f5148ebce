/**
 * The small HTTPS (or, where a flag asks for it, HTTP) server of a component: health, metrics, current
 * configuration and profiles. It reads no bodies. Paths outside `alwaysAllowPaths` need the authorizer's
 * consent; without an authorizer they are open, which only plain loopback ports of tests may do.
 */
import {
  createServer as createHttpServer,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import type { AddressInfo, Server } from 'node:net';
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
}

const plainText = 'text/plain; charset=utf-8';

export class ComponentServer {
  private readonly server: Server & { closeAllConnections(): void };

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

  /** Ends at once: its requests are short. */
  async stop(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise<void>((resolve) => this.server.close(() => resolve()));
  }

  private async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', 'http://component');
    const path = url.pathname;
    if (this.settings.authorizer && !this.isOpen(path)) {
      const decision = await this.settings.authorizer.decide(servingRequest(request, path));
      if (decision.kind !== 'allowed') {
        const statusCode = decision.kind === 'forbidden' ? 403 : 401;
        send(response, statusCode, plainText, `${decision.reason}\n`);
        return;
      }
    }
    const answer = await this.answer(url, path);
    if (answer) send(response, answer.statusCode, answer.contentType, answer.body);
    else if (!this.settings.fallback?.(request, response)) {
      send(response, 404, plainText, '404 page not found\n');
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
