/** Starts the scheduler: serves health, fills the caches, and schedules pods while leading. */
import { NestFactory } from '@nestjs/core';
import {
  createComponent,
  InformerFactory,
  RestClient,
  serveComponent,
  servingUrl,
  startElectedComponent,
} from '@orch/client';
import { HealthChecks, Metrics, retry, startInsecureServer } from '@orch/component';
import { resolveConfiguration, Scheduler } from '@orch/scheduling';
import { ComponentAuthentication } from '@orch/security';
import { applyConfiguration } from './apply-configuration.js';
import { explainPage, explainPath } from './explain-page.js';
import { type ProcessDependencies, ProfileRecorders, schedulerModule } from './scheduler.module.js';

/**
 * Longest wait for the first lists; without them the scheduler would see only a part of the
 * cluster.
 */
const syncTimeoutMs = 120_000;

export async function startScheduler(dependencies: ProcessDependencies): Promise<void> {
  const { options, features, lifecycle, logger } = dependencies;
  const configuration = resolveConfiguration(options.scheduling, features);
  for (const warning of configuration.warnings) logger.warn({ warning }, 'configuration file');
  applyConfiguration(options, configuration.process);
  const module = schedulerModule(dependencies, configuration);
  const context = await createComponent(NestFactory, module, dependencies);
  const client = context.get(RestClient);
  const informers = context.get(InformerFactory);
  const recorders = context.get(ProfileRecorders);
  lifecycle.onStop('event recorders', () => recorders.stop());
  const scheduler = context.get(Scheduler);

  let isSynced = false;
  const checkSynced = () => {
    if (!isSynced) throw new Error('the caches have not synced yet');
  };
  context.get(HealthChecks).add({ name: 'informer-sync', run: checkSynced }, ['readyz']);
  await serveComponent(options.serving, context, dependencies, {
    configuration: () => ({ scheduler: options.scheduling }),
    pages: { [explainPath]: explainPage(scheduler) },
    authentication: ComponentAuthentication.ofFlags(options, logger),
    lookup: options.authentication,
  });
  const { insecureAddress: address, insecurePort: port } = options.scheduling;
  const [health, metrics] = [context.get(HealthChecks), context.get(Metrics)];
  await startInsecureServer({ address, port }, { health, metrics, ...dependencies });

  const served = await servedResources(client, dependencies);
  scheduler.follow(({ group, plural }) => served.has(`${group}/${plural}`));
  lifecycle.onStop('informers', () => informers.stop());
  informers.start();
  await informers.whenSynced(syncTimeoutMs);
  isSynced = true;
  startElectedComponent(options.election, {
    ...dependencies,
    component: 'scheduler',
    servingUrl: servingUrl(options.serving),
    client,
    metrics: context.get(Metrics),
    health: context.get(HealthChecks),
    start: () => scheduler.start(),
    stop: () => scheduler.stop(),
  });
}

/** `group/plural` of all served resources. Retries until the server responds. */
async function servedResources(
  client: RestClient,
  { logger, lifecycle }: ProcessDependencies,
): Promise<ReadonlySet<string>> {
  const { resources } = await retry(
    () =>
      client.discover().catch((error: unknown) => {
        logger.warn({ err: error }, 'the server does not respond yet');
        throw error;
      }),
    {
      initialMs: 500,
      maxMs: 5_000,
      factor: 2,
      jitter: 0.5,
      random: Math.random,
      attemptCountMax: Number.POSITIVE_INFINITY,
      signal: lifecycle.stopping,
    },
  );
  return new Set(resources.map(({ group, plural }) => `${group}/${plural}`));
}
