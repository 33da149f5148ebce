/** The parts of the service proxy process, put together once. Each is a plain class. */
import { resolve } from 'node:path';
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
import { ServiceProxy } from '@orch/proxying';
import type { ProxyProcessOptions } from './proxy-process-options.js';

export interface ProcessParts {
  readonly options: ProxyProcessOptions;
  readonly logger: Logger;
  readonly lifecycle: Lifecycle;
}

@Module({})
class ProxyModule {}

export function proxyModule({ options, logger, lifecycle }: ProcessParts): DynamicModule {
  return {
    module: ProxyModule,
    providers: [
      { provide: Metrics, useFactory: () => new Metrics(options.common.shownMetricsRelease) },
      {
        provide: RestClient,
        inject: [Metrics],
        useFactory: (metrics: Metrics) => clientOfFlags(options.client, logger, metrics),
      },
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
      { provide: HealthChecks, inject: [ServiceProxy], useFactory: healthChecks },
    ],
  };
}

function healthChecks(proxy: ServiceProxy): HealthChecks {
  const health = new HealthChecks();
  health.add(pingCheck);
  const run = () => {
    if (!proxy.ready) throw new Error('services have not been seen yet');
  };
  health.add({ name: 'services', run }, ['healthz', 'readyz']);
  return health;
}
