/** The Nest module: which controllers there are and what they are given. */

import { type DynamicModule, Module } from '@nestjs/common';
import {
  ApiHandler,
  Discovery,
  IssuerDocuments,
  OpenApiDocuments,
  type WatchRegistry,
} from '@orch/apiserver';
import { HealthChecks, Metrics } from '@orch/component';
import { ClusterAccess, ClusterController } from './controllers/cluster.controller.js';
import { DiscoveryController } from './controllers/discovery.controller.js';
import { FlowControlAccess, FlowControlController } from './controllers/flow-control.controller.js';
import { HealthController } from './controllers/health.controller.js';
import { IssuerController } from './controllers/issuer.controller.js';
import { OpenApiController } from './controllers/openapi.controller.js';
import { RootController, StoredCounts } from './controllers/root.controller.js';

export interface ApiServerProviders {
  readonly api: ApiHandler;
  readonly cluster: ClusterAccess;
  readonly discovery: Discovery;
  readonly flowControl: FlowControlAccess;
  readonly health: HealthChecks;
  readonly issuer: IssuerDocuments;
  readonly metrics: Metrics;
  readonly openApi: OpenApiDocuments;
  readonly storedCounts: StoredCounts;
  readonly watches: WatchRegistry;
}

@Module({
  controllers: [
    RootController,
    ClusterController,
    DiscoveryController,
    FlowControlController,
    HealthController,
    IssuerController,
    OpenApiController,
  ],
})
class ApiServerModule {}

/** The module around what the composition root has made. */
export function apiServerModule(providers: ApiServerProviders): DynamicModule {
  return {
    module: ApiServerModule,
    providers: [
      { provide: ApiHandler, useValue: providers.api },
      { provide: ClusterAccess, useValue: providers.cluster },
      { provide: Discovery, useValue: providers.discovery },
      { provide: FlowControlAccess, useValue: providers.flowControl },
      { provide: HealthChecks, useValue: providers.health },
      { provide: IssuerDocuments, useValue: providers.issuer },
      { provide: Metrics, useValue: providers.metrics },
      { provide: OpenApiDocuments, useValue: providers.openApi },
      { provide: StoredCounts, useValue: providers.storedCounts },
    ],
  };
}
