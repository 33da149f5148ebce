/**
 * The HTTPS server: resource requests go directly to the request handler, all others through
 * Fastify to the controllers. At shutdown watches end as if they had timed out, running requests
 * finish, and connections close.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Http2SecureServer } from 'node:http2';
import type { Socket } from 'node:net';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import {
  acceptUpgrade,
  isResourceTarget,
  type RequestHandler,
  type WatchRegistry,
} from '@orch/apiserver';
import { type KeyPairPem, type Metrics, ReloadedTls, sleep, systemClock } from '@orch/component';
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify';
import type { ApiServerContext } from '../context/api-server-context.js';
import { firstServiceAddress } from '../context/cluster-settings.js';
import {
  connectionBacklog,
  createHttpsServer,
  keepAliveTimeoutMs,
  type Listener,
  listenFailure,
  servingHosts,
  servingPair,
  tlsOptions,
} from '../context/serving.js';
import { authorityFiles, FollowedAuthorities } from '../security/followed-authorities.js';
import { respondToClientError } from './client-errors.js';
import type { ConnectionLimiter } from './connection-limiter.js';
import { Connections } from './connections.js';

/** Limit on the time for running requests at shutdown. */
const drainMs = 10_000;
const allMethods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const;
const routedMethods: ReadonlySet<string> = new Set(allMethods);

export interface HttpsServerDependencies {
  readonly requests: RequestHandler;
  readonly watches: WatchRegistry;
  readonly limiter: ConnectionLimiter;
  readonly metrics: Metrics;
}

export class HttpsServer {
  /** The adapter of the Nest application. */
  readonly adapter: FastifyAdapter;
  private readonly server: Http2SecureServer;
  private readonly connections: Connections;
  /** Connections that end after a response, because an upgrade was ignored. */
  private readonly ending = new WeakSet<Socket>();
  /** Set before the server listens. */
  private dependencies!: HttpsServerDependencies;

  private constructor(
    private readonly context: ApiServerContext,
    private pair: KeyPairPem,
  ) {
    this.server = createHttpsServer(pair, context.options);
    this.connections = new Connections(this.server);
    this.adapter = new FastifyAdapter({
      routerOptions: { ignoreTrailingSlash: true },
      clientErrorHandler: respondToClientError,
      // A path that cannot be decoded: the request handler responds with a Status.
      frameworkErrors: (_error: FastifyError, request: FastifyRequest, reply: FastifyReply) =>
        this.bypass(request, reply),
      serverFactory: (handler: Listener) => this.route(handler) as never,
    });
  }

  /** Rejects with FatalError if the serving certificate is missing or invalid. */
  static async create(context: ApiServerContext): Promise<HttpsServer> {
    const { options, settings } = context;
    const hosts = servingHosts(options, firstServiceAddress(settings.clusterSettings));
    const server = new HttpsServer(context, await servingPair(options, hosts));
    await server.registerRoutes();
    return server;
  }

  /** Sets the dependencies, which the container creates after the adapter. */
  connect(dependencies: HttpsServerDependencies): void {
    this.dependencies = dependencies;
    dependencies.limiter.guard(this.server, keepAliveTimeoutMs);
    const handshakeErrors = dependencies.metrics.counter({
      name: 'apiserver_tls_handshake_errors_total',
      help: 'Connections closed because the TLS handshake failed.',
    });
    this.server.on('tlsClientError', () => handshakeErrors.inc());
  }

  /** Returns the port. Rejects with FatalError if the address is not available. */
  async listen(app: NestFastifyApplication): Promise<number> {
    const { options, logger, lifecycle } = this.context;
    try {
      const { securePort: port, bindAddress: host } = options;
      await app.listen({ port, host, backlog: connectionBacklog });
    } catch (error) {
      throw listenFailure(options.bindAddress, options.securePort, error as NodeJS.ErrnoException);
    }
    this.followCertificate();
    this.followAuthorities();
    lifecycle.onStop('server', () => this.stop(() => app.close()));
    const address = this.server.address();
    const port = typeof address === 'object' && address ? address.port : options.securePort;
    logger.info({ address: options.bindAddress, port }, 'serving');
    return port;
  }

  /** Connects the sockets to the request handler and to Fastify's `handler`. */
  private route(handler: Listener): Http2SecureServer {
    const listener: Listener = (request, response) => {
      if (request.httpVersionMajor === 1 && this.followsUpgrade(request, response)) return;
      const { url = '', method = '' } = request;
      this.connections.began(response);
      const isRouted = url.startsWith('/') && routedMethods.has(method);
      if (isResourceTarget(url) || !isRouted) this.dependencies.requests.handle(request, response);
      else handler(request, response);
    };
    this.server.on('request', listener as never);
    // Option of Node since 24.9, which the types do not have yet.
    Object.assign(this.server, { shouldUpgradeCallback: mayUpgrade });
    this.server.on('upgrade', (request: IncomingMessage, socket: Socket, head: Buffer) => {
      this.connections.upgrading(socket);
      this.dependencies.requests.handleUpgrade(request, acceptUpgrade(request, socket, head));
    });
    return this.server;
  }

  /**
   * Whether the bytes of the request follow one whose upgrade is ignored: they may be meant for the
   * other protocol and get no response. Marks the connection of such a request, which is closed
   * after its response.
   */
  private followsUpgrade({ socket, headers }: IncomingMessage, response: ServerResponse): boolean {
    if (this.ending.has(socket)) return true;
    if (headers.upgrade === undefined) return false;
    this.ending.add(socket);
    response.shouldKeepAlive = false;
    return false;
  }

  /** Registers the route of the paths without a controller. */
  private async registerRoutes(): Promise<void> {
    const fastify = this.adapter.getInstance();
    // The handlers read bodies, within the limits of the interface.
    fastify.removeAllContentTypeParsers();
    fastify.addContentTypeParser('*', (_request, _body, done) => done(null));
    // A separate plugin, registered before Nest's plugins: Nest's hooks do not apply to its route.
    await fastify.register(async (plugin) => {
      plugin.route({
        method: [...allMethods],
        url: '/*',
        onRequest: (request, reply) => this.bypass(request, reply),
        handler: () => undefined,
      });
    });
  }

  private bypass(request: FastifyRequest, reply: FastifyReply): void {
    reply.hijack();
    this.dependencies.requests.handle(request.raw, reply.raw);
  }

  /** A self-signed certificate is renewed only by the next start. */
  private followCertificate(): void {
    const { options, logger, lifecycle } = this.context;
    const { tlsCertFile: certificateFile, tlsPrivateKeyFile: keyFile } = options;
    if (certificateFile === '') return;
    const certificate = new ReloadedTls({
      name: 'serving',
      certificateFile,
      keyFile,
      current: { pair: this.pair },
      replace: ({ pair }) => {
        this.pair = pair;
        this.server.setSecureContext(tlsOptions(pair, options));
      },
      clock: systemClock,
      logger,
    });
    certificate.start();
    lifecycle.onStop('serving certificate', () => certificate.stop());
  }

  /** New connections are verified with the new authorities, users of open ones checked again. */
  private followAuthorities(): void {
    const { options, settings, logger, lifecycle } = this.context;
    const followed = new FollowedAuthorities({
      files: authorityFiles(options.authentication, settings.authentication),
      onReplaced: () => this.server.setSecureContext(tlsOptions(this.pair, options)),
      clock: systemClock,
      logger,
    });
    followed.start();
    lifecycle.onStop('client authorities', () => followed.stop());
  }

  /** Readiness already fails when this begins; requests are served until the delay is over. */
  private async stop(closeApp: () => Promise<void>): Promise<void> {
    const { options, logger } = this.context;
    if (options.shutdownDelayMs > 0) await sleep(options.shutdownDelayMs);
    const { watches } = this.dependencies;
    logger.info({ watchCount: watches.count }, 'ending watches');
    watches.stopAll();
    await this.connections.close(drainMs);
    await closeApp();
    logger.info({}, 'no longer serving');
  }
}

/** Other requests to upgrade are served as plain requests. */
function mayUpgrade({ url = '', headers }: IncomingMessage): boolean {
  const hasBody =
    headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) !== 0;
  return isResourceTarget(url) && !hasBody;
}
