/** The parts of the scheduler process, put together once. Everything it holds is a plain class. */
import { type DynamicModule, Module } from '@nestjs/common';
import { EventRecorder, InformerFactory, RestClient, restClientOptions } from '@orch/client';
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
import { Scheduler, SchedulerMetrics } from '@orch/scheduling';
import type { SchedulerOptions } from './scheduler-options.js';

export interface ProcessParts {
  readonly options: SchedulerOptions;
  readonly logger: Logger;
  readonly lifecycle: Lifecycle;
}

@Module({})
class SchedulerModule {}

export function schedulerModule({ options, logger }: ProcessParts): DynamicModule {
  const { scheduling } = options;
  return {
    module: SchedulerModule,
    providers: [
      { provide: HealthChecks, useFactory: healthChecks },
      { provide: Metrics, useFactory: () => new Metrics() },
      { provide: RestClient, useFactory: () => restClient(options, logger) },
      {
        provide: InformerFactory,
        inject: [RestClient],
        useFactory: (client: RestClient) => new InformerFactory({ client, logger }),
      },
      {
        provide: EventRecorder,
        inject: [RestClient],
        useFactory: (client: RestClient) =>
          new EventRecorder({ client, component: scheduling.schedulerName, logger }),
      },
      {
        provide: Scheduler,
        inject: [RestClient, InformerFactory, EventRecorder, Metrics],
        useFactory: (
          client: RestClient,
          informers: InformerFactory,
          recorder: EventRecorder,
          metrics: Metrics,
        ) =>
          new Scheduler(
            {
              client,
              informers,
              recorder,
              metrics: new SchedulerMetrics(metrics, scheduling.schedulerName),
              logger,
              clock: systemClock,
              random: Math.random,
            },
            scheduling,
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

function restClient(options: SchedulerOptions, logger: Logger): RestClient {
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
