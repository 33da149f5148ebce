/** The controllers of the paths outside the resources, and the HTTPS server for all paths. */
import { type DynamicModule, Module, type OnModuleInit } from '@nestjs/common';
import {
  AggregatedApis,
  FollowedNodeGraph,
  RequestHandler,
  ServerDocuments,
  StorageMetrics,
  WatchRegistry,
} from '@orch/apiserver';
import { HealthChecks, Metrics, systemClock } from '@orch/component';
import { ClaimIndex, CustomResources, Registry, ResourceTable } from '@orch/registry';
import { RbacPolicy } from '@orch/security';
import { ApiServerContext } from '../context/api-server-context.js';
import { processModule } from '../context/process.module.js';
import { ServerGate } from '../context/request-gate.js';
import { ClusterController } from '../controllers/cluster.controller.js';
import { DebugController } from '../controllers/debug.controller.js';
import { DiscoveryController } from '../controllers/discovery.controller.js';
import { EncryptionController } from '../controllers/encryption.controller.js';
import { FlowControlController } from '../controllers/flow-control.controller.js';
import { HealthController } from '../controllers/health.controller.js';
import { IssuerController } from '../controllers/issuer.controller.js';
import { OpenApiController } from '../controllers/openapi.controller.js';
import { RootController, StoredCounts } from '../controllers/root.controller.js';
import { AggregationModule } from '../registry/aggregation.module.js';
import { RegistryModule } from '../registry/registry.module.js';
import { SecurityModule } from '../security/security.module.js';
import { ClusterBootstrap } from '../store/cluster-bootstrap.js';
import { OpenedStore } from '../store/open-store.js';
import { StoreModule } from '../store/store.module.js';
import { ConnectionLimiter } from './connection-limiter.js';
import { serverHealth } from './health.js';
import { HttpsServer } from './https-server.js';
import { RequestHandlingModule } from './request-handling.module.js';

@Module({
  controllers: [
    RootController,
    ClusterController,
    DiscoveryController,
    EncryptionController,
    FlowControlController,
    HealthController,
    IssuerController,
    OpenApiController,
    DebugController,
  ],
  providers: [
    {
      provide: HealthChecks,
      inject: [
        ...[ApiServerContext, OpenedStore, ResourceTable, ClaimIndex, CustomResources],
        ...[ClusterBootstrap, RbacPolicy, FollowedNodeGraph, ServerGate, Registry],
        ...[AggregatedApis, ServerDocuments],
      ],
      useFactory: (
        context: ApiServerContext,
        { store }: OpenedStore,
        table: ResourceTable,
        claims: ClaimIndex,
        customResources: CustomResources,
        bootstrap: ClusterBootstrap,
        policy: RbacPolicy,
        nodes: FollowedNodeGraph,
        gate: ServerGate,
        { admission }: Registry,
        apis: AggregatedApis,
        documents: ServerDocuments,
      ) =>
        serverHealth({
          ...{ context, store, table, claims, customResources, bootstrap, policy, nodes, gate },
          ...{ admission, apis, documents, clock: systemClock },
        }),
    },
    {
      provide: StoredCounts,
      inject: [OpenedStore, ServerGate, StorageMetrics, ResourceTable],
      useFactory: (
        opened: OpenedStore,
        { flowControl }: ServerGate,
        storageMetrics: StorageMetrics,
        table: ResourceTable,
      ) =>
        new StoredCounts(() => {
          opened.refreshMetrics();
          flowControl?.refreshMetrics();
          return storageMetrics.refresh(opened.store, table);
        }),
    },
  ],
})
class HttpModule implements OnModuleInit {
  constructor(
    private readonly server: HttpsServer,
    private readonly requests: RequestHandler,
    private readonly watches: WatchRegistry,
    private readonly limiter: ConnectionLimiter,
    private readonly metrics: Metrics,
  ) {}

  onModuleInit(): void {
    const { requests, watches, limiter, metrics } = this;
    this.server.connect({ requests, watches, limiter, metrics });
  }
}

/** The root module. `server` is created before the modules, because Nest needs its adapter. */
export function httpModule(context: ApiServerContext, server: HttpsServer): DynamicModule {
  return {
    module: HttpModule,
    imports: [
      processModule(context),
      StoreModule,
      SecurityModule,
      AggregationModule,
      RegistryModule,
      RequestHandlingModule,
    ],
    providers: [{ provide: HttpsServer, useValue: server }],
  };
}
