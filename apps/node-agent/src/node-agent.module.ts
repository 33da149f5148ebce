/** The parts of the node agent process, put together once. Each is a plain class. */
import { join, resolve } from 'node:path';
import { type DynamicModule, Module } from '@nestjs/common';
import { componentProviders, RestClient } from '@orch/client';
import {
  type Features,
  HealthChecks,
  type Lifecycle,
  type Logger,
  Metrics,
  systemClock,
} from '@orch/component';
import { NodeAgent, nodeNameOf, ProcessRuntime } from '@orch/node';
import type { NodeAgentProcessOptions } from './node-agent-process-options.js';
import { certificateDirectory } from './node-identity.js';

export interface ProcessDependencies {
  readonly options: NodeAgentProcessOptions;
  readonly features: Features;
  readonly logger: Logger;
  readonly lifecycle: Lifecycle;
}

@Module({})
class NodeAgentModule {}

/** `podCidr` is the network of the node's pods. */
export function nodeAgentModule(
  { options, features, logger, lifecycle }: ProcessDependencies,
  podCidr: string,
): DynamicModule {
  return {
    module: NodeAgentModule,
    providers: [
      ...componentProviders(options, logger),
      { provide: ProcessRuntime, useFactory: () => processRuntime(options, podCidr, logger) },
      {
        provide: NodeAgent,
        inject: [RestClient, ProcessRuntime, HealthChecks, Metrics],
        useFactory: (
          client: RestClient,
          runtime: ProcessRuntime,
          health: HealthChecks,
          metrics: Metrics,
        ) =>
          new NodeAgent({
            options: options.agent,
            podCidr,
            ...(options.certificates.rotateServerCertificates &&
              features.enabled('RotateKubeletServerCertificate') && {
                requestedCertificates: certificateDirectory(options),
              }),
            client,
            runtime,
            health,
            metrics,
            onFailed: (error: unknown) => lifecycle.fail(error),
            clock: systemClock,
            logger,
            random: Math.random,
          }),
      },
    ],
  };
}

/** Where containers run: the embedded runtime of plain Linux processes. */
export function processRuntime(
  options: NodeAgentProcessOptions,
  podCidr: string,
  logger: Logger,
): ProcessRuntime {
  const { agent } = options;
  return new ProcessRuntime({
    root: join(resolve(agent.rootDirectory), 'runtime'),
    podCidr,
    owner: `${agent.clusterName}/${nodeNameOf(agent)}`,
    isolation: agent.processIsolation,
    clock: systemClock,
    logger,
  });
}
