/** The parts of the scheduler process, put together once. Everything it holds is a plain class. */
import { type DynamicModule, Module } from '@nestjs/common';
import { clientOfFlags, EventRecorder, InformerFactory, RestClient } from '@orch/client';
import {
  HealthChecks,
  type Lifecycle,
  type Logger,
  Metrics,
  pingCheck,
  systemClock,
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
      { provide: Metrics, useFactory: () => new Metrics(options.common.shownMetricsRelease) },
      {
        provide: RestClient,
        inject: [Metrics],
        useFactory: (metrics: Metrics) => clientOfFlags(options.client, logger, metrics),
      },
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
