/** The parts of the node agent process, put together once. Each is a plain class. */
import { join, resolve } from 'node:path';
import { type DynamicModule, Module } from '@nestjs/common';
import { clientOfFlags, RestClient } from '@orch/client';
import {
  HealthChecks,
  type Lifecycle,
  type Logger,
  Metrics,
  pingCheck,
  systemClock,
} from '@orch/component';
import { NodeAgent, nodeNameOf, ProcessRuntime } from '@orch/node';
import type { NodeAgentProcessOptions } from './node-agent-process-options.js';

export interface ProcessParts {
  readonly options: NodeAgentProcessOptions;
  readonly logger: Logger;
  readonly lifecycle: Lifecycle;
}

@Module({})
class NodeAgentModule {}

export function nodeAgentModule({ options, logger, lifecycle }: ProcessParts): DynamicModule {
  return {
    module: NodeAgentModule,
    providers: [
      { provide: HealthChecks, useFactory: healthChecks },
      { provide: Metrics, useFactory: () => new Metrics(options.common.shownMetricsRelease) },
      {
        provide: RestClient,
        inject: [Metrics],
        useFactory: (metrics: Metrics) => clientOfFlags(options.client, logger, metrics),
      },
      { provide: ProcessRuntime, useFactory: () => processRuntime(options, logger) },
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
export function processRuntime(options: NodeAgentProcessOptions, logger: Logger): ProcessRuntime {
  const { agent } = options;
  return new ProcessRuntime({
    root: join(resolve(agent.rootDirectory), 'runtime'),
    podCidr: agent.podCidr,
    owner: `${agent.clusterName}/${nodeNameOf(agent)}`,
    isolation: agent.processIsolation,
    clock: systemClock,
    logger,
  });
}

function healthChecks(): HealthChecks {
  const health = new HealthChecks();
  health.add(pingCheck);
  return health;
}
