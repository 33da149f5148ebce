/**
 * Composition of the API server: options -> store -> registry -> pipeline -> HTTPS. It listens before the
 * store has a quorum, so that reads of what it has go on; what a new cluster needs is made as soon as
 * the store takes writes.
 */
import { randomUUID } from 'node:crypto';
import { admissionRules, type ClusterSettings, definitions } from '@orch/api';
import { StatusError } from '@orch/apimachinery';
import {
  Admission,
  AdmissionMetrics,
  ApiHandler,
  AuthenticationMetrics,
  Authenticator,
  allowAuthenticated,
  apiServiceUpkeep,
  bootstrapCluster,
  ClaimIndex,
  CustomParts,
  CustomResources,
  converterFor,
  Discovery,
  definitionUpkeep,
  flowControlUpkeep,
  InFlight,
  IssuerDocuments,
  kindRules,
  MeasuredStore,
  NamespaceLifecycle,
  OpenApiDocuments,
  PodLogMetrics,
  permissionsOfAuthenticated,
  type RegistryParts,
  RequestMetrics,
  ResourceTable,
  RuntimeConfig,
  readTokenFile,
  registerLocalServices,
  ServerEndpoints,
  ServiceAccountAuthenticator,
  StorageMetrics,
  serviceResolver,
  WatchRegistry,
  WebhookClient,
} from '@orch/apiserver';
import { Backoff, type ComponentContext, Metrics, sleep, systemClock } from '@orch/component';
import { StoreError, type VersionedStore } from '@orch/store';
import type { ApiServerOptions } from './api-server-options.js';
import { clusterSettings } from './cluster-settings.js';
import { ClusterAccess } from './controllers/cluster.controller.js';
import { StoredCounts } from './controllers/root.controller.js';
import { checkDataDirectory, claimDataDirectory } from './data-directory.js';
import { serverHealth } from './health.js';
import { handOver, openStore } from './open-store.js';
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
  const parts = registryParts(store, table, claims, settings, new AdmissionMetrics(metrics));
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
  const inFlight = new InFlight({
    readOnly: options.maxRequestsInflight,
    mutating: options.maxMutatingRequestsInflight,
  });
  const watches = new WatchRegistry(metrics);
  customResources.onDropped((served) => watches.stopOf(served));
  const authentication = new AuthenticationMetrics(metrics);
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
    inFlight,
    metrics: new RequestMetrics(metrics, inFlight),
    podLogs: new PodLogMetrics(metrics),
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
  const bootstrap = { done: false };
  const health = serverHealth({ store, claims, customResources, lifecycle, bootstrap });
  const issuer = new IssuerDocuments({
    tokens: accountTokens,
    keySetUri: options.serviceAccountKeySetUri,
    host: advertiseAddress(options),
  });
  const storedCounts = new StoredCounts(() => {
    opened.refreshMetrics();
    return storageMetrics.refresh(store, table);
  });
  const port = await serveHttps(context, {
    api,
    cluster: new ClusterAccess(cluster),
    discovery,
    health,
    issuer,
    metrics,
    openApi,
    storedCounts,
    watches,
  });
  logger.info({ address: options.bindAddress, port }, 'serving');
  const endpoints = new ServerEndpoints(parts, { ip: advertiseAddress(options), port }, logger);
  const upkeep = [
    flowControlUpkeep(parts, logger),
    definitionUpkeep(parts, customParts, logger),
    apiServiceUpkeep(parts, logger),
  ];
  await untilTaken(context, async () => {
    await bootstrapCluster(parts, {
      serviceClusterIpRange: settings.serviceClusterIpRanges[0]!,
      securePort: port,
    });
    await registerLocalServices(parts);
    for (const one of upkeep) await one.start();
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

function registryParts(
  store: VersionedStore,
  table: ResourceTable,
  claims: ClaimIndex,
  settings: ClusterSettings,
  admissionMetrics: AdmissionMetrics,
): RegistryParts {
  const clock = systemClock;
  const random = Math.random;
  const namespaces = table.stored('core', 'namespaces');
  if (!namespaces) throw new Error('namespaces are not served');
  const plugins = [
    new NamespaceLifecycle(store, clock, namespaces),
    ...kindRules({ rules: admissionRules, store, table, clock, random }),
  ];
  const admission = new Admission(plugins, clock, admissionMetrics);
  const { features } = table;
  return { store, table, clock, features, settings, claims, admission, random, newUid: randomUUID };
}
