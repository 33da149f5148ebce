/**
 * Starts the controller manager: serves health at once, stands for election and runs the controllers
 * while leading. A process that loses the lease ends, so that nothing it had under way goes on.
 */
import { NestFactory } from '@nestjs/core';
import { electionOfFlags, LeaderElector, RestClient } from '@orch/client';
import {
  exitCodes,
  HealthChecks,
  Metrics,
  nestLogger,
  startComponentServer,
} from '@orch/component';
import { ControllerManager } from '@orch/controllers';
import { controllerManagerModule, type ProcessParts } from './controller-manager.module.js';

export async function startControllerManager(parts: ProcessParts): Promise<void> {
  const { options, logger, lifecycle } = parts;
  const context = await NestFactory.createApplicationContext(controllerManagerModule(parts), {
    logger: nestLogger(logger),
    abortOnError: false,
  });
  lifecycle.onStop('application context', () => context.close());
  const client = context.get(RestClient);
  const manager = context.get(ControllerManager);
  lifecycle.onStop('client', () => client.close());

  await startComponentServer(options.serving, {
    health: context.get(HealthChecks),
    metrics: context.get(Metrics),
    postReview: async (path, body) => (await client.request('POST', path, { body })).json(),
    configuration: () => ({ controllers: options.controllers }),
    logger,
    lifecycle,
  });

  const lead = () => {
    manager.start().catch((error: unknown) => lifecycle.fail(error));
  };
  if (!options.election.enabled) {
    lifecycle.onStop('controllers', () => manager.stop());
    lead();
    return;
  }
  const elector = electorFor(parts, client, lead, context.get(Metrics));
  elector.start();
  lifecycle.onStop('leader election', () => elector.stop());
  // Registered last, so it runs first: the lease is given up when nothing works under it any more.
  lifecycle.onStop('controllers', () => manager.stop());
}

function electorFor(
  parts: ProcessParts,
  client: RestClient,
  lead: () => void,
  metrics: Metrics,
): LeaderElector {
  const { options, logger } = parts;
  return new LeaderElector({
    client: client.derive({ qps: 0 }),
    ...electionOfFlags(options.election, 'controller-manager'),
    logger,
    metrics,
    onStartedLeading: lead,
    onLost: () => {
      // At once: within the lease's last seconds another process may start to act.
      logger.fatal({}, 'the leadership was lost');
      process.exit(exitCodes.leadershipLost);
    },
    onNewLeader: (leader) => logger.info({ leader }, 'leader seen'),
  });
}
