/** The request pipeline: gate, audit, watches, discovery and OpenAPI. */
import { Module } from '@nestjs/common';
import { ModuleRef } from '@nestjs/core';
import {
  AggregatedApis,
  Discovery,
  MeasuredStore,
  OpenApiDocuments,
  RequestHandler,
  ServerDocuments,
  WatchRegistry,
} from '@orch/apiserver';
import { Metrics, systemClock } from '@orch/component';
import { CustomResources, Registry, ResourceTable, type ServedResource } from '@orch/registry';
import { ServiceAccountTokens } from '@orch/security';
import { ApiServerContext } from '../context/api-server-context.js';
import { ServerGate } from '../context/request-gate.js';
import { AggregationModule } from '../registry/aggregation.module.js';
import { RegistryModule } from '../registry/registry.module.js';
import { Security, SecurityModule } from '../security/security.module.js';
import { StoreModule } from '../store/store.module.js';
import { ConnectionLimiter } from './connection-limiter.js';
import { createRequestHandler } from './create-request-handler.js';

@Module({
  imports: [StoreModule, SecurityModule, AggregationModule, RegistryModule],
  providers: [
    {
      provide: ServerGate,
      inject: [ApiServerContext, MeasuredStore, ResourceTable, Metrics],
      useFactory: (
        context: ApiServerContext,
        store: MeasuredStore,
        table: ResourceTable,
        metrics: Metrics,
      ) => {
        const limits = context.settings.requestLimits;
        return new ServerGate({ context, limits, store, table, metrics });
      },
    },
    {
      provide: WatchRegistry,
      inject: [Metrics, CustomResources],
      useFactory: (metrics: Metrics, customResources: CustomResources) => {
        const watches = new WatchRegistry(metrics);
        customResources.onDropped((served) => watches.stopOf(served));
        return watches;
      },
    },
    {
      provide: ConnectionLimiter,
      inject: [ApiServerContext, Metrics],
      useFactory: ({ options }: ApiServerContext, metrics: Metrics) =>
        new ConnectionLimiter(options.connections, systemClock, metrics),
    },
    {
      provide: RequestHandler,
      inject: [
        ...[ApiServerContext, Registry, CustomResources, Security, ServiceAccountTokens],
        ...[ServerGate, ConnectionLimiter, MeasuredStore, WatchRegistry, Metrics],
        ...[AggregatedApis, ModuleRef],
      ],
      useFactory: (
        context: ApiServerContext,
        registry: Registry,
        customResources: CustomResources,
        security: Security,
        serviceAccountTokens: ServiceAccountTokens,
        { gate }: ServerGate,
        limiter: ConnectionLimiter,
        revisions: MeasuredStore,
        watches: WatchRegistry,
        metrics: Metrics,
        aggregated: AggregatedApis,
        modules: ModuleRef,
      ) =>
        createRequestHandler({
          ...{ context, registry, customResources, security, serviceAccountTokens },
          ...{ gate, revisions, watches, metrics, aggregated },
          onAuthenticated: (request) => limiter.authenticated(request),
          // Looked up per call, because discovery lists the subresources of the handler.
          paths: () => modules.get(Discovery).paths(),
        }),
    },
    {
      provide: Discovery,
      inject: [ResourceTable, RequestHandler, AggregatedApis, ServerDocuments],
      useFactory: (
        table: ResourceTable,
        requests: RequestHandler,
        apis: AggregatedApis,
        documents: ServerDocuments,
      ) => {
        const subresourcesOf = (served: ServedResource) => requests.subresourcesOf(served);
        return new Discovery({ table, subresourcesOf, apis, documents });
      },
    },
    {
      provide: OpenApiDocuments,
      inject: [ResourceTable, RequestHandler, AggregatedApis, ServerDocuments],
      useFactory: (
        table: ResourceTable,
        requests: RequestHandler,
        apis: AggregatedApis,
        documents: ServerDocuments,
      ) => {
        const subresourcesOf = (served: ServedResource) => requests.subresourcesOf(served);
        return new OpenApiDocuments({ table, subresourcesOf, apis, documents, clock: systemClock });
      },
    },
  ],
  exports: [
    ServerGate,
    ConnectionLimiter,
    WatchRegistry,
    RequestHandler,
    Discovery,
    OpenApiDocuments,
  ],
})
export class RequestHandlingModule {}
