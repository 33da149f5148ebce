/**
 * Composition of the API server: options -> store -> registry -> pipeline -> HTTPS. Requests on resources
 * go from the socket to the pipeline: routing them through Fastify costs a fifth of the CPU time of a get.
 * Nest controllers on its Fastify instance serve everything else; one catch-all answers unknown paths.
 */
import { randomUUID } from 'node:crypto';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import { admissionRules, type ClusterSettings, definitions } from '@orch/api';
import {
  Admission,
  ApiHandler,
  ApiMetrics,
  Authenticator,
  allowAuthenticated,
  bootstrapCluster,
  ClaimIndex,
  Discovery,
  InFlight,
  IssuerDocuments,
  isResourceTarget,
  KindRules,
  NamespaceLifecycle,
  OpenApiDocuments,
  type RegistryParts,
  ResourceTable,
  readTokenFile,
  ServiceAccountAuthenticator,
  StorageMetrics,
  WatchRegistry,
} from '@orch/apiserver';
import {
  type ComponentContext,
  exitCodes,
  FatalError,
  HealthChecks,
  type Lifecycle,
  type Logger,
  Metrics,
  nestLogger,
  pingCheck,
  sleep,
  systemClock,
} from '@orch/component';
import {
  DEFAULT_STORE_OPTIONS,
  openLocalStore,
  StoreError,
  type VersionedStore,
} from '@orch/store';
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify';
import { type ApiServerProviders, apiServerModule } from './api-server.module.js';
import type { ApiServerOptions } from './api-server-options.js';
import { answerClientError } from './client-errors.js';
import { clusterSettings, firstServiceAddress } from './cluster-settings.js';
import { Connections } from './connections.js';
import { StoredCounts } from './controllers/root.controller.js';
import { checkDataDirectory, claimDataDirectory } from './data-directory.js';
import { serviceAccountTokens } from './service-account-signing.js';
import {
  advertiseAddress,
  checkAddress,
  createHttpsServer,
  type Listener,
  listenFailure,
  readPem,
  servingHosts,
  servingPair,
} from './serving.js';

type Context = Pick<ComponentContext<ApiServerOptions>, 'options' | 'logger' | 'lifecycle'>;

const startTimeoutMs = 60_000;
/** Running requests may take that long to end once the server is to stop. */
const drainMs = 10_000;
const allMethods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const;
const routedMethods: ReadonlySet<string> = new Set(allMethods);

export async function startApiServer(context: Context): Promise<void> {
  const { options, logger, lifecycle } = context;
  const settings = clusterSettings(options);
  checkDataDirectory(options.dataDir);
  const tokens = options.tokenAuthFile === '' ? new Map() : readTokenFile(options.tokenAuthFile);
  await checkAddress(options.bindAddress, options.securePort);
  claimDataDirectory(options.dataDir);
  const metrics = new Metrics();
  const storageMetrics = new StorageMetrics(metrics);
  // A first start makes a key, which takes as long as the rest.
  const [accountTokens, store] = await Promise.all([
    serviceAccountTokens(options),
    openStore(context, storageMetrics),
  ]);
  const table = new ResourceTable(definitions);
  const claims = new ClaimIndex((error) => lifecycle.fail(storageFailure(error)));
  await claims.start(store, startTimeoutMs);
  lifecycle.onStop('claims', () => claims.stop());
  const parts = registryParts(store, table, claims, settings);
  const inFlight = new InFlight({
    readOnly: options.maxRequestsInflight,
    mutating: options.maxMutatingRequestsInflight,
  });
  const apiMetrics = new ApiMetrics(metrics, inFlight);
  const watches = new WatchRegistry(apiMetrics);
  const api = new ApiHandler({
    parts,
    authenticator: new Authenticator({
      tokens,
      serviceAccounts: new ServiceAccountAuthenticator({
        tokens: accountTokens,
        store,
        table,
        clock: parts.clock,
      }),
      anonymous: options.anonymousAuth,
    }),
    serviceAccountTokens: accountTokens,
    authorizer: allowAuthenticated,
    inFlight,
    metrics: apiMetrics,
    watches,
    nodeAgents: {
      certificatePem: readPem(options.nodeAgentCertificate),
      keyPem: readPem(options.nodeAgentKey),
      authorityPem: readPem(options.nodeAgentAuthority),
      addressTypes: options.nodeAgentAddressTypes,
    },
    requestTimeoutMs: options.requestTimeoutMs,
    logger,
    paths: () => discovery.paths(),
  });
  const discovery = new Discovery(table, (served) => api.subresourcesOf(served));
  const openApi = new OpenApiDocuments(table, (served) => api.subresourcesOf(served), systemClock);
  const health = healthChecks(store, lifecycle);
  const issuer = new IssuerDocuments({
    tokens: accountTokens,
    keySetUri: options.serviceAccountKeySetUri,
    host: advertiseAddress(options),
  });
  const storedCounts = new StoredCounts(() => storageMetrics.refresh(store, table));
  const port = await listen(context, {
    api,
    discovery,
    health,
    issuer,
    metrics,
    openApi,
    storedCounts,
    watches,
  });
  await bootstrapCluster(parts, {
    serviceClusterIpRange: settings.serviceClusterIpRanges[0]!,
    advertiseAddress: advertiseAddress(options),
    securePort: port,
  });
  logger.info({ address: options.bindAddress, port }, 'serving');
}

function registryParts(
  store: VersionedStore,
  table: ResourceTable,
  claims: ClaimIndex,
  settings: ClusterSettings,
): RegistryParts {
  const clock = systemClock;
  const random = Math.random;
  const namespaces = table.stored('core', 'namespaces');
  if (!namespaces) throw new Error('namespaces are not served');
  const admission = new Admission([
    new NamespaceLifecycle(store, clock, namespaces),
    new KindRules({ rules: admissionRules, store, table, clock, random }),
  ]);
  return { store, table, clock, settings, claims, admission, random, newUid: randomUUID };
}

async function openStore(
  { options, logger, lifecycle }: Context,
  { observer, logObserver }: StorageMetrics,
): Promise<VersionedStore> {
  const { historyRetentionMs } = options;
  const compactionIntervalMs = Math.min(
    DEFAULT_STORE_OPTIONS.compactionIntervalMs,
    historyRetentionMs,
  );
  try {
    const store = await openLocalStore(options.dataDir, {
      options: { historyRetentionMs, compactionIntervalMs },
      clock: systemClock,
      logger,
      onFatal: (error) => lifecycle.fail(storageFailure(error)),
      observer,
      logObserver,
    });
    lifecycle.onStop('store', () => store.stop());
    return store;
  } catch (error) {
    if (error instanceof StoreError) throw storageFailure(error);
    throw error;
  }
}

function storageFailure(error: Error): FatalError {
  return new FatalError(exitCodes.storageFailed, error.message, { cause: error });
}

function healthChecks(store: VersionedStore, lifecycle: Lifecycle): HealthChecks {
  const health = new HealthChecks();
  health.add(pingCheck);
  health.add({ name: 'log', run: () => undefined });
  // Existing probes ask for the store's check under either name.
  for (const name of ['etcd', 'store']) {
    health.add({
      name,
      run() {
        const { ready, reason } = store.status();
        if (!ready) throw new Error(reason ?? 'the store is not ready');
      },
    });
  }
  // What is read once at start is there before anything is served.
  health.add({ name: 'informer-sync', run: () => undefined }, ['readyz']);
  health.add(
    {
      name: 'shutdown',
      run() {
        if (lifecycle.stopping.aborted) throw new Error('the process is ending');
      },
    },
    ['readyz'],
  );
  return health;
}

/** Serves, and returns the port. */
async function listen(context: Context, providers: ApiServerProviders): Promise<number> {
  const { options, logger, lifecycle } = context;
  const { api, watches } = providers;
  const pair = await servingPair(
    options,
    servingHosts(options, firstServiceAddress(clusterSettings(options))),
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
        if (isResourceTarget(url) || !routedMethods.has(method)) api.handle(request, response);
        else handler(request, response);
      };
      const server = createHttpsServer(pair, options, listener);
      connections = new Connections(server);
      return server as never;
    },
  });
  const fastify = adapter.getInstance();
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
