/**
 * Composition of the API server: options -> store -> registry -> pipeline -> HTTPS. It listens before the
 * store has a quorum, so that reads of what it has go on; what a new cluster needs is made as soon as
 * the store takes writes.
 */
import { definitions } from '@orch/api';
import { StatusError } from '@orch/apimachinery';
import {
  AdmissionMetrics,
  ApiHandler,
  AuthenticationMetrics,
  Authenticator,
  allowAuthenticated,
  apiServiceUpkeep,
  bootstrapPriorities,
  ClaimIndex,
  CustomParts,
  CustomResources,
  converterFor,
  Discovery,
  definitionUpkeep,
  FlowControl,
  flowControlUpkeep,
  IssuerDocuments,
  MeasuredStore,
  OpenApiDocuments,
  PodLogMetrics,
  permissionsOfAuthenticated,
  RequestMetrics,
  ResourceTable,
  RuntimeConfig,
  readTokenFile,
  reconcileRoles,
  registerLocalServices,
  ServerEndpoints,
  ServiceAccountAuthenticator,
  StorageMetrics,
  serviceResolver,
  systemObjectsUpkeep,
  WatchRegistry,
  WebhookClient,
} from '@orch/apiserver';
import { Backoff, type ComponentContext, Metrics, sleep, systemClock } from '@orch/component';
import { StoreError } from '@orch/store';
import type { ApiServerOptions } from './api-server-options.js';
import { clusterSettings } from './cluster-settings.js';
import { ClusterAccess } from './controllers/cluster.controller.js';
import { FlowControlAccess } from './controllers/flow-control.controller.js';
import { StoredCounts } from './controllers/root.controller.js';
import { checkDataDirectory, claimDataDirectory } from './data-directory.js';
import { serverHealth } from './health.js';
import { openAuditor } from './open-auditor.js';
import { handOver, openStore } from './open-store.js';
import { registryParts } from './registry-parts.js';
import { requestGate, requestLimits } from './request-gate.js';
import { serveHttps } from './serve-https.js';
import { serviceAccountTokens } from './service-account-signing.js';
import { advertiseAddress, checkAddress, clientUrl, readPem } from './serving.js';

type Context = Pick<
  ComponentContext<ApiServerOptions>,
  'options' | 'features' | 'logger' | 'lifecycle'
>;

export async function startApiServer(context: Context): Promise<void> {
  const { options, features, logger, lifecycle } = context;
  const settings = clusterSettings(options, features);
  const limits = requestLimits(context);
  checkDataDirectory(options.dataDir);
  const tokens = options.tokenAuthFile === '' ? new Map() : readTokenFile(options.tokenAuthFile);
  await checkAddress(options.bindAddress, options.securePort);
  claimDataDirectory(options.dataDir);
  const metrics = new Metrics(options.common.shownMetricsRelease);
  const storageMetrics = new StorageMetrics(metrics);
  // A first start makes a key, which takes as long as the rest.
  const [accountTokens, opened] = await Promise.all([
    serviceAccountTokens(options),
    openStore(context, metrics, storageMetrics, clientUrl(options)),
  ]);
  const { cluster } = opened;
  const table = new ResourceTable(
    definitions,
    new RuntimeConfig(options.runtimeConfig, definitions),
    features,
  );
  const store = new MeasuredStore(opened.store, table, systemClock, metrics);
  const claims = new ClaimIndex(store, logger);
  // A replica whose state was damaged has nothing to read before the leader has sent it.
  claims.start();
  lifecycle.onStop('claims', () => claims.stop());
  const parts = registryParts({
    store,
    table,
    claims,
    settings,
    observer: new AdmissionMetrics(metrics),
    logger,
    pluginNames: {
      enabled: options.enableAdmissionPlugins,
      disabled: options.disableAdmissionPlugins,
    },
  });
  const customResources = new CustomResources({ store, table, clock: parts.clock, logger });
  const webhooks = new WebhookClient(serviceResolver(parts));
  const customParts = new CustomParts(
    parts,
    customResources,
    converterFor({ client: webhooks, clock: parts.clock, newUid: parts.newUid }),
  );
  customResources.start();
  lifecycle.onStop('webhooks', () => webhooks.close());
  lifecycle.onStop('custom resources', () => customResources.stop());
  const gate = requestGate(context, limits, { store, table, metrics });
  const flowControl = gate instanceof FlowControl ? gate : undefined;
  const watches = new WatchRegistry(metrics);
  customResources.onDropped((served) => watches.stopOf(served));
  const authentication = new AuthenticationMetrics(metrics);
  const auditor = await openAuditor(context, metrics);
  const api = new ApiHandler({
    parts,
    customParts,
    customResources,
    authenticator: new Authenticator({
      tokens,
      serviceAccounts: new ServiceAccountAuthenticator({
        tokens: accountTokens,
        store,
        table,
        clock: parts.clock,
        observer: authentication.tokenCache,
      }),
      anonymous: options.anonymousAuth,
      clock: parts.clock,
      observer: authentication,
    }),
    serviceAccountTokens: accountTokens,
    authorizer: allowAuthenticated,
    permissions: permissionsOfAuthenticated,
    gate,
    metrics: new RequestMetrics(metrics, gate),
    podLogs: new PodLogMetrics(metrics),
    watches,
    auditor,
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
  const bootstrap = { done: false };
  const health = serverHealth({ store, claims, customResources, lifecycle, bootstrap });
  const issuer = new IssuerDocuments({
    tokens: accountTokens,
    keySetUri: options.serviceAccountKeySetUri,
    host: advertiseAddress(options),
  });
  const storedCounts = new StoredCounts(() => {
    opened.refreshMetrics();
    flowControl?.refreshMetrics();
    return storageMetrics.refresh(store, table);
  });
  const port = await serveHttps(context, {
    api,
    cluster: new ClusterAccess(cluster),
    discovery,
    flowControl: new FlowControlAccess(flowControl),
    health,
    issuer,
    metrics,
    openApi,
    storedCounts,
    watches,
  });
  logger.info({ address: options.bindAddress, port }, 'serving');
  const endpoints = new ServerEndpoints(parts, { ip: advertiseAddress(options), port }, logger);
  const systemObjects = systemObjectsUpkeep(
    parts,
    {
      serviceClusterIpRange: settings.serviceClusterIpRanges[0]!,
      securePort: port,
      clientAuthoritiesPem: readPem(options.clientCaFile),
    },
    logger,
  );
  const flowConfiguration = flowControlUpkeep(parts, logger);
  const definedKinds = definitionUpkeep(parts, customParts, logger);
  const apiServices = apiServiceUpkeep(parts, logger);
  const upkeep = [systemObjects, flowConfiguration, definedKinds, apiServices];
  await untilTaken(context, async () => {
    // What has a namespace comes after the namespaces.
    await systemObjects.start();
    await Promise.all([
      bootstrapPriorities(parts),
      reconcileRoles(parts),
      registerLocalServices(parts),
      flowConfiguration.start(),
      definedKinds.start(),
    ]);
    await apiServices.start();
    await endpoints.start();
    bootstrap.done = true;
  });
  // Nobody waits for it: several servers that start together can only do so one after the other.
  void untilTaken(context, async () => cluster?.announce());
  lifecycle.onStop('upkeep', async () => {
    await Promise.all(upkeep.map((one) => one.stop()));
  });
  lifecycle.onStop('endpoints', () => endpoints.stop());
  // The first thing at the end: whoever still asks finds another leader at once.
  lifecycle.onStop('leadership', () => handOver(cluster, logger));
}

/** Tries until the store has done it or the process ends: a quorum may be long in coming. */
async function untilTaken(
  { lifecycle, logger }: Context,
  work: () => Promise<void>,
): Promise<void> {
  const backoff = new Backoff({
    initialMs: 100,
    maxMs: 5_000,
    factor: 2,
    jitter: 0.5,
    random: Math.random,
  });
  while (!lifecycle.stopping.aborted) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof StoreError) && !(error instanceof StatusError)) throw error;
      logger.warn({ err: error }, 'the store takes no writes yet');
      await sleep(backoff.nextMs());
    }
  }
}
