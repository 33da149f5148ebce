/** Starts the simulated nodes of `--hollow`, which have neither containers nor files. */
import { type DynamicModule, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { componentProviders, createComponent, RestClient } from '@orch/client';
import { HealthChecks, Metrics, systemClock, ValueError } from '@orch/component';
import { HollowNodes } from '@orch/node';
import type { ProcessDependencies } from './node-agent.module.js';

@Module({})
class HollowNodesModule {}

export async function startHollowNodes(dependencies: ProcessDependencies): Promise<void> {
  const { options, lifecycle } = dependencies;
  if (options.teardownOnly || options.certificates.bootstrapKubeconfig !== undefined) {
    throw new ValueError('--hollow excludes --teardown-only and --bootstrap-kubeconfig');
  }
  const context = await createComponent(NestFactory, hollowNodesModule(dependencies), dependencies);
  const nodes = context.get(HollowNodes);
  lifecycle.onStop('hollow nodes', () => nodes.stop());
  nodes.start();
}

function hollowNodesModule({ options, logger }: ProcessDependencies): DynamicModule {
  return {
    module: HollowNodesModule,
    providers: [
      ...componentProviders(options, logger),
      {
        provide: HollowNodes,
        inject: [RestClient, HealthChecks, Metrics],
        useFactory: (client: RestClient, health: HealthChecks, metrics: Metrics) =>
          new HollowNodes({
            agent: options.agent,
            hollow: options.hollow,
            client,
            health,
            metrics,
            clock: systemClock,
            logger,
            random: Math.random,
          }),
      },
    ],
  };
}
