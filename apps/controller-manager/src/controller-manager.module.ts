/** The parts of the controller manager process, put together once. Each is a plain class. */
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
import { ControllerManager } from '@orch/controllers';
import type { ControllerManagerOptions } from './controller-manager-options.js';

export interface ProcessParts {
  readonly options: ControllerManagerOptions;
  readonly logger: Logger;
  readonly lifecycle: Lifecycle;
}

@Module({})
class ControllerManagerModule {}

export function controllerManagerModule({ options, logger }: ProcessParts): DynamicModule {
  return {
    module: ControllerManagerModule,
    providers: [
      { provide: HealthChecks, useFactory: healthChecks },
      { provide: Metrics, useFactory: () => new Metrics() },
      { provide: RestClient, useFactory: () => restClient(options, logger) },
      {
        provide: ControllerManager,
        inject: [RestClient, Metrics],
        useFactory: (client: RestClient, metrics: Metrics) =>
          new ControllerManager(
            {
              client,
              qps: options.client.apiQps,
              burst: options.client.apiBurst,
              logger,
              metrics,
              clock: systemClock,
              random: Math.random,
            },
            options.controllers,
          ),
      },
    ],
  };
}

function healthChecks(): HealthChecks {
  const health = new HealthChecks();
  health.add(pingCheck);
  return health;
}

function restClient(options: ControllerManagerOptions, logger: Logger): RestClient {
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
