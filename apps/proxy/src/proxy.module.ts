/** The parts of the service proxy process, put together once. Each is a plain class. */
import { resolve } from 'node:path';
import { type DynamicModule, Module } from '@nestjs/common';
import { componentProviders, RestClient } from '@orch/client';
import { type Lifecycle, type Logger, Metrics, systemClock } from '@orch/component';
import { ServiceProxy } from '@orch/proxying';
import type { ProxyProcessOptions } from './proxy-process-options.js';

export interface ProcessDependencies {
  readonly options: ProxyProcessOptions;
  readonly logger: Logger;
  readonly lifecycle: Lifecycle;
}

@Module({})
class ProxyModule {}

export function proxyModule({ options, logger, lifecycle }: ProcessDependencies): DynamicModule {
  return {
    module: ProxyModule,
    providers: [
      ...componentProviders(options, logger),
      {
        provide: ServiceProxy,
        inject: [RestClient, Metrics],
        useFactory: (client: RestClient, metrics: Metrics) =>
          new ServiceProxy({
            options: options.proxy,
            client,
            owner: resolve(options.client.requiredKubeconfig()),
            metrics,
            onFailed: (error: unknown) => lifecycle.fail(error),
            clock: systemClock,
            logger,
          }),
      },
    ],
  };
}
