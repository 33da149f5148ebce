/**
 * Starts the scheduler: serves health at once, fills the caches, stands for election and places pods
 * while leading. A process that loses the lease ends: its state may be behind that of the next leader.
 */
import { NestFactory } from '@nestjs/core';
import {
  EventRecorder,
  electionOfFlags,
  InformerFactory,
  LeaderElector,
  RestClient,
} from '@orch/client';
import {
  exitCodes,
  FatalError,
  HealthChecks,
  Metrics,
  nestLogger,
  retry,
  startComponentServer,
} from '@orch/component';
import { Scheduler } from '@orch/scheduling';
import { type ProcessParts, schedulerModule } from './scheduler.module.js';

/** Longest wait for the first lists; without them half a cluster would be taken for all of it. */
const syncTimeoutMs = 120_000;

export async function startScheduler(parts: ProcessParts): Promise<void> {
  const { options, logger, lifecycle } = parts;
  const context = await NestFactory.createApplicationContext(schedulerModule(parts), {
    logger: nestLogger(logger),
    abortOnError: false,
  });
  lifecycle.onStop('application context', () => context.close());
  const client = context.get(RestClient);
  const informers = context.get(InformerFactory);
  const recorder = context.get(EventRecorder);
  const health = context.get(HealthChecks);
  lifecycle.onStop('client', () => client.close());
  lifecycle.onStop('event recorder', () => recorder.stop());
  const scheduler = context.get(Scheduler);

  let isSynced = false;
  const synced = () => {
    if (!isSynced) throw new Error('the caches are not filled yet');
  };
  health.add({ name: 'informer-sync', run: synced }, ['readyz']);
  await startComponentServer(options.serving, {
    health,
    metrics: context.get(Metrics),
    postReview: async (path, body) => (await client.request('POST', path, { body })).json(),
    configuration: () => ({ scheduler: options.scheduling }),
    logger,
    lifecycle,
  });

  const served = await servedResources(client, parts);
  scheduler.followOwners(({ group, plural }) => served.has(`${group}/${plural}`));
  lifecycle.onStop('informers', () => informers.stop());
  informers.start();
  await informers.whenSynced(syncTimeoutMs);
  isSynced = true;
  lifecycle.onStop('scheduler', () => scheduler.stop());
  if (!options.election.enabled) {
    scheduler.start();
    return;
  }
  const elector = electorFor(parts, client, scheduler, context.get(Metrics));
  elector.start();
  lifecycle.onStop('leader election', () => elector.stop());
}

/** `group/plural` of everything that the server has; asks until the server answers. */
async function servedResources(
  client: RestClient,
  { logger, lifecycle }: ProcessParts,
): Promise<ReadonlySet<string>> {
  const { resources } = await retry(
    () =>
      client.discover().catch((error: unknown) => {
        logger.warn({ err: error }, 'the server does not answer yet');
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

function electorFor(
  parts: ProcessParts,
  client: RestClient,
  scheduler: Scheduler,
  metrics: Metrics,
): LeaderElector {
  const { options, logger, lifecycle } = parts;
  return new LeaderElector({
    client,
    ...electionOfFlags(options.election, 'scheduler'),
    logger,
    metrics,
    onStartedLeading: (signal) => {
      signal.addEventListener('abort', () => scheduler.stop(), { once: true });
      scheduler.start();
    },
    onLost: () =>
      lifecycle.fail(new FatalError(exitCodes.leadershipLost, 'the leadership was lost')),
    onNewLeader: (leader) => logger.info({ leader }, 'leader seen'),
  });
}
