/**
 * Creates the objects of a new cluster as soon as the store accepts writes, and reconciles them
 * while the server runs. The first step of the shutdown hands the leadership over.
 */
import { StatusError } from '@orch/apimachinery';
import { Backoff, sleep } from '@orch/component';
import {
  apiServiceReconciler,
  availabilityReconciler,
  bootstrapPriorities,
  type CheckApiService,
  definitionReconciler,
  ensureMetricsReader,
  flowControlReconciler,
  type Registry,
  reconcileRoles,
  registerLocalServices,
  ServerEndpoints,
  systemObjectsReconciler,
} from '@orch/registry';
import { StoreError } from '@orch/store';
import type { ApiServerContext } from '../context/api-server-context.js';
import { advertiseAddress } from '../context/serving.js';
import type { AuthenticationOptions } from '../options/authentication-options.js';
import { readPem } from '../options/pem-files.js';
import { handOver, type OpenedStore } from './open-store.js';

export interface ClusterBootstrapDependencies {
  readonly context: ApiServerContext;
  readonly registry: Registry;
  readonly opened: OpenedStore;
  readonly checkApiService: CheckApiService;
}

/** The steps of the start, each with objects of its own. */
export type BootstrapStep =
  | 'system objects'
  | 'priority classes'
  | 'roles'
  | 'flow control'
  | 'custom resource definitions'
  | 'local API services'
  | 'API services'
  | 'endpoints'
  | 'availability';

export class ClusterBootstrap {
  private readonly completed = new Set<BootstrapStep>();

  constructor(private readonly dependencies: ClusterBootstrapDependencies) {}

  /** Whether the objects of a step exist and are reconciled from now on. */
  isDone(step: BootstrapStep): boolean {
    return this.completed.has(step);
  }

  /**
   * Publishes the server at `port`. Resolves when the objects exist and the endpoints are
   * published, or when the process stops.
   */
  async start(port: number): Promise<void> {
    const { context, registry, opened, checkApiService } = this.dependencies;
    const { logger, lifecycle } = context;
    const systemObjects = this.systemObjects(port);
    const flowConfiguration = flowControlReconciler(registry, logger);
    const definedKinds = definitionReconciler(registry, logger);
    const apiServices = apiServiceReconciler(registry, logger);
    const availability = availabilityReconciler(registry, checkApiService, logger);
    const address = { ip: advertiseAddress(context.options), port };
    const endpoints = new ServerEndpoints(registry, opened.store, address, logger);
    await this.retried(async () => {
      // Namespaces first: namespaced objects need them.
      await this.complete('system objects', systemObjects.start());
      await Promise.all([
        this.complete('priority classes', bootstrapPriorities(registry)),
        this.complete(
          'roles',
          Promise.all([reconcileRoles(registry, context.features), ensureMetricsReader(registry)]),
        ),
        this.complete('local API services', registerLocalServices(registry)),
        this.complete('flow control', flowConfiguration.start()),
        this.complete('custom resource definitions', definedKinds.start()),
      ]);
      await this.complete('API services', apiServices.start());
      await this.complete('endpoints', endpoints.start());
    });
    // Not awaited: servers that start together can announce themselves only one after the other.
    void this.retried(async () => opened.cluster?.announce());
    // Not awaited, and complete when it runs: it waits for other servers.
    void this.retried(() => availability.start());
    this.completed.add('availability');
    const reconcilers = [systemObjects, flowConfiguration, definedKinds, apiServices, availability];
    lifecycle.onStop('reconcilers', async () => {
      await Promise.all(reconcilers.map((reconciler) => reconciler.stop()));
    });
    lifecycle.onStop('endpoints', () => endpoints.stop());
    // Registered last, so that it runs first and clients find the next leader without an election.
    lifecycle.onStop('leadership', () => handOver(opened.cluster, logger));
  }

  private async complete(step: BootstrapStep, work: Promise<unknown>): Promise<void> {
    await work;
    this.completed.add(step);
  }

  private systemObjects(securePort: number) {
    const { context, registry } = this.dependencies;
    const { options, settings, logger } = context;
    return systemObjectsReconciler(
      registry,
      {
        serviceClusterIpRange: settings.clusterSettings.serviceClusterIpRanges[0]!,
        securePort,
        publishedAuthentication: publishedAuthentication(options.authentication),
      },
      logger,
    );
  }

  /** Retries while the store rejects writes, without a time limit, until the process stops. */
  private async retried(work: () => Promise<void>): Promise<void> {
    const { lifecycle, logger } = this.dependencies.context;
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
        logger.warn({ err: error }, 'the store does not accept writes yet');
        await sleep(backoff.nextMs());
      }
    }
  }
}

/** What servers behind this one need to authenticate as this one does. */
function publishedAuthentication({ clientCaFile, proxy }: AuthenticationOptions) {
  const clientAuthoritiesPem = readPem(clientCaFile);
  const proxyAuthoritiesPem = readPem(proxy.clientCaFile);
  const { allowedNames, userHeaders, groupHeaders, extraPrefixes } = proxy;
  return {
    clientAuthoritiesPem,
    proxy:
      proxyAuthoritiesPem === undefined
        ? undefined
        : {
            authoritiesPem: proxyAuthoritiesPem,
            allowedNames,
            userHeaders,
            groupHeaders,
            extraPrefixes,
          },
  };
}
