/** The parts of the scheduler process, put together once. Everything it holds is a plain class. */
import { type DynamicModule, Module } from '@nestjs/common';
import { componentProviders, EventRecorder, InformerFactory, RestClient } from '@orch/client';
import { type Features, type Lifecycle, type Logger, Metrics, systemClock } from '@orch/component';
import { Scheduler, type SchedulerConfiguration, SchedulerMetrics } from '@orch/scheduling';
import type { SchedulerOptions } from './scheduler-options.js';

export interface ProcessDependencies {
  readonly options: SchedulerOptions;
  readonly features: Features;
  readonly logger: Logger;
  readonly lifecycle: Lifecycle;
}

/** The recorders of the events of each profile, by scheduler name. */
export class ProfileRecorders {
  private readonly recorders: ReadonlyMap<string, EventRecorder>;

  constructor(names: readonly string[], client: RestClient, logger: Logger) {
    this.recorders = new Map(
      names.map((component) => [component, new EventRecorder({ client, component, logger })]),
    );
  }

  of(schedulerName: string): EventRecorder {
    return this.recorders.get(schedulerName)!;
  }

  async stop(): Promise<void> {
    await Promise.all([...this.recorders.values()].map((recorder) => recorder.stop()));
  }
}

@Module({})
class SchedulerModule {}

export function schedulerModule(
  { options, features, logger }: ProcessDependencies,
  configuration: SchedulerConfiguration,
): DynamicModule {
  const names = configuration.profiles.map(({ schedulerName }) => schedulerName);
  return {
    module: SchedulerModule,
    providers: [
      ...componentProviders(options, logger),
      {
        provide: InformerFactory,
        inject: [RestClient],
        useFactory: (client: RestClient) => new InformerFactory({ client, logger }),
      },
      {
        provide: ProfileRecorders,
        inject: [RestClient],
        // A rate limit of their own: events must not delay bindings.
        useFactory: (client: RestClient) => new ProfileRecorders(names, client.derive({}), logger),
      },
      {
        provide: Scheduler,
        inject: [RestClient, InformerFactory, ProfileRecorders, Metrics],
        useFactory: (
          client: RestClient,
          informers: InformerFactory,
          recorders: ProfileRecorders,
          metrics: Metrics,
        ) =>
          new Scheduler(
            {
              ...{ client, informers, logger },
              recorderOf: (schedulerName) => recorders.of(schedulerName),
              metrics: new SchedulerMetrics(metrics),
              clock: systemClock,
              random: Math.random,
              prefersNominatedNode: features.enabled('PreferNominatedNode'),
            },
            configuration,
          ),
      },
    ],
  };
}
