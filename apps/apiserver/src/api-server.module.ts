/** The Nest module: which controllers there are and what they are given. */

import { type DynamicModule, Module } from '@nestjs/common';
import { ApiHandler, Discovery, WatchRegistry } from '@orch/apiserver';
import { HealthChecks, Metrics } from '@orch/component';
import { DiscoveryController } from './controllers/discovery.controller.js';
import { HealthController } from './controllers/health.controller.js';
import { RootController } from './controllers/root.controller.js';

export interface ApiServerProviders {
  readonly api: ApiHandler;
  readonly discovery: Discovery;
  readonly health: HealthChecks;
  readonly metrics: Metrics;
  readonly watches: WatchRegistry;
}

@Module({})
export class ApiServerModule {
  static with(providers: ApiServerProviders): DynamicModule {
    return {
      module: ApiServerModule,
      controllers: [RootController, DiscoveryController, HealthController],
      providers: [
        { provide: ApiHandler, useValue: providers.api },
        { provide: Discovery, useValue: providers.discovery },
        { provide: HealthChecks, useValue: providers.health },
        { provide: Metrics, useValue: providers.metrics },
        { provide: WatchRegistry, useValue: providers.watches },
      ],
    };
  }
}
