/**
 * The listening server: resource requests go from the socket to the pipeline, everything else through
 * Fastify to Nest's controllers. Its end: watches end as if their time were over, running requests
 * finish, connections close.
 */
import type { IncomingMessage } from 'node:http';
import type { Http2SecureServer } from 'node:http2';
import type { Socket } from 'node:net';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import { isResourceTarget, upgradeExchange, type WatchRegistry } from '@orch/apiserver';
import {
  type ComponentContext,
  type KeyPairPem,
  type Logger,
  nestLogger,
  sleep,
  systemClock,
} from '@orch/component';
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify';
import { type ApiServerProviders, apiServerModule } from './api-server.module.js';
import type { ApiServerOptions } from './api-server-options.js';
import { answerClientError } from './client-errors.js';
import { clusterSettings, firstServiceAddress } from './cluster-settings.js';
import { Connections } from './connections.js';
import { hasBody, ignoringUpgrades } from './ignored-upgrade.js';
import {
  createHttpsServer,
  type Listener,
  listenFailure,
  servingHosts,
  servingPair,
  tlsOptions,
} from './serving.js';
import { ServingCertificate } from './serving-certificate.js';

type Context = Pick<
  ComponentContext<ApiServerOptions>,
  'options' | 'features' | 'logger' | 'lifecycle'
>;

/** Running requests may take that long to end once the server is to stop. */
const drainMs = 10_000;
const allMethods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const;
const routedMethods: ReadonlySet<string> = new Set(allMethods);

/** Serves, and returns the port. Rejects with FatalError when the port cannot be had. */
export async function serveHttps(context: Context, providers: ApiServerProviders): Promise<number> {
  const { options, features, logger, lifecycle } = context;
  const { api, metrics, watches } = providers;
  const handshakeErrors = metrics.counter({
    name: 'apiserver_tls_handshake_errors_total',
    help: 'Connections that came to nothing because TLS could not be agreed on.',
  });
  const pair = await servingPair(
    options,
    servingHosts(options, firstServiceAddress(clusterSettings(options, features))),
  );
  let connections: Connections | undefined;
  const adapter = new FastifyAdapter({
    routerOptions: { ignoreTrailingSlash: true },
    clientErrorHandler: answerClientError,
    // Paths that cannot be decoded; the pipeline says so in a Status.
    frameworkErrors(_error: FastifyError, request: FastifyRequest, reply: FastifyReply) {
      reply.hijack();
      api.handle(request.raw, reply.raw);
    },
    serverFactory(handler: Listener) {
      const listener: Listener = (request, response) => {
        const { url = '', method = '' } = request;
        connections?.began(response);
        if (isResourceTarget(url) || !routedMethods.has(method)) api.handle(request, response);
        else handler(request, response);
      };
      const server = createHttpsServer(pair, options, listener);
      connections = new Connections(server);
      const serveIgnoring = ignoringUpgrades(listener);
      server.on('upgrade', (request: IncomingMessage, socket: Socket, head: Buffer) => {
        if (hasBody(request)) return serveIgnoring(request, socket, head);
        connections?.upgrading(socket);
        const exchange = upgradeExchange(request, socket, head);
        if (isResourceTarget(request.url ?? '')) api.handleUpgrade(request, exchange);
        // Nothing else speaks another protocol: the request is answered as if it had not asked.
        else handler(request, exchange.response);
      });
      server.on('tlsClientError', () => handshakeErrors.inc());
      followCertificate(context, pair, server);
      return server as never;
    },
  });
  const fastify = adapter.getInstance();
  // Bodies are read by those who answer, within the limits of the interface.
  fastify.removeAllContentTypeParsers();
  fastify.addContentTypeParser('*', (_request, _body, done) => done(null));
  // A plugin of its own, registered before Nest's: its route runs none of Nest's hooks.
  await fastify.register(async (plugin) => {
    plugin.route({
      method: [...allMethods],
      url: '/*',
      onRequest(request, reply) {
        reply.hijack();
        api.handle(request.raw, reply.raw);
      },
      handler: () => undefined,
    });
  });
  const app = await NestFactory.create<NestFastifyApplication>(
    apiServerModule(providers),
    adapter,
    { logger: nestLogger(logger), bodyParser: false, abortOnError: false },
  );
  await app.init();
  try {
    await app.listen(options.securePort, options.bindAddress);
  } catch (error) {
    throw listenFailure(options.bindAddress, options.securePort, error as NodeJS.ErrnoException);
  }
  lifecycle.onStop('server', () =>
    stopServing(options, logger, watches, connections, () => app.close()),
  );
  const address = app.getHttpServer().address();
  return typeof address === 'object' && address !== null ? address.port : options.securePort;
}

/** A certificate of this server's own making is renewed by the next start. */
function followCertificate(
  { options, logger, lifecycle }: Context,
  current: KeyPairPem,
  server: Http2SecureServer,
): void {
  const { tlsCertFile: certificateFile, tlsPrivateKeyFile: keyFile } = options;
  if (certificateFile === '') return;
  const certificate = new ServingCertificate({
    certificateFile,
    keyFile,
    current,
    replace: (pair) => server.setSecureContext(tlsOptions(pair, options)),
    clock: systemClock,
    logger,
  });
  certificate.start();
  lifecycle.onStop('serving certificate', () => certificate.stop());
}

/** Readiness fails as soon as the process begins to end; service goes on for the delay. */
async function stopServing(
  options: ApiServerOptions,
  logger: Logger,
  watches: WatchRegistry,
  connections: Connections | undefined,
  closeApp: () => Promise<void>,
): Promise<void> {
  if (options.shutdownDelayMs > 0) await sleep(options.shutdownDelayMs);
  logger.info({ watchCount: watches.count }, 'ending watches');
  watches.stopAll();
  await connections?.close(drainMs);
  await closeApp();
  logger.info({}, 'no longer serving');
}
