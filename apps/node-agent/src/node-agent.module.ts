/** The parts of the node agent process, put together once. Each is a plain class. */
import { join, resolve } from 'node:path';
import { type DynamicModule, Module } from '@nestjs/common';
import { RestClient, restClientOptions } from '@orch/client';
import {
  connectionOf,
  HealthChecks,
  type Lifecycle,
  type Logger,
  Metrics,
  pingCheck,
  systemClock,
  UsageError,
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

export function nodeAgentModule({ options, logger }: ProcessParts): DynamicModule {
  return {
    module: NodeAgentModule,
    providers: [
      { provide: HealthChecks, useFactory: healthChecks },
      { provide: Metrics, useFactory: () => new Metrics() },
      { provide: RestClient, useFactory: () => restClient(options, logger) },
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

function restClient(options: NodeAgentProcessOptions, logger: Logger): RestClient {
  const { kubeconfig, apiQps, apiBurst } = options.client;
  if (!kubeconfig) {
    throw new UsageError('--kubeconfig: give the file that says where the API server is');
  }
  return new RestClient({
    ...restClientOptions(connectionOf(kubeconfig)),
    qps: apiQps,
    burst: apiBurst,
    logger,
  });
}
