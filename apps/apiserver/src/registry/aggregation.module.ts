/** The aggregated API servers: registrations, connections and documents. */
import { Module, type OnModuleInit } from '@nestjs/common';
import { ModuleRef } from '@nestjs/core';
import {
  AggregatedApis,
  clusterAddressResolver,
  identityHeaders,
  MeasuredStore,
  ServerDocuments,
  serviceResolver,
} from '@orch/apiserver';
import { type KeyPairPem, Metrics, ReloadedTls, systemClock } from '@orch/component';
import { FollowedPrefix, Registry, ResourceTable } from '@orch/registry';
import { ApiServerContext } from '../context/api-server-context.js';
import { StoreModule } from '../store/store.module.js';

/** The front-proxy certificate in use. */
class FrontProxyCertificate {
  current: KeyPairPem | undefined;
}

@Module({
  imports: [StoreModule],
  providers: [
    {
      provide: FrontProxyCertificate,
      inject: [ApiServerContext],
      useFactory: ({ settings }: ApiServerContext) => {
        const certificate = new FrontProxyCertificate();
        certificate.current = settings.proxyCertificate;
        return certificate;
      },
    },
    {
      provide: AggregatedApis,
      inject: [ApiServerContext, ResourceTable, FrontProxyCertificate, Metrics, ModuleRef],
      useFactory: (
        { options, settings }: ApiServerContext,
        table: ResourceTable,
        certificate: FrontProxyCertificate,
        metrics: Metrics,
        modules: ModuleRef,
      ) => {
        const resolver = options.aggregation.routesToEndpoints
          ? serviceResolver
          : clusterAddressResolver;
        return new AggregatedApis({
          table,
          metrics,
          // Looked up per call, because the registry is created later.
          resolve: (service, timeoutMs) =>
            resolver(modules.get(Registry, { strict: false }))(service, timeoutMs),
          isIdentityHeader: identityHeaders(options.authentication.proxy),
          certificate: () => certificate.current,
          dial: settings.egress.cluster,
        });
      },
    },
    {
      provide: ServerDocuments,
      inject: [AggregatedApis, ApiServerContext],
      useFactory: (apis: AggregatedApis, { logger }: ApiServerContext) =>
        new ServerDocuments({ apis, clock: systemClock, logger }),
    },
  ],
  exports: [AggregatedApis, ServerDocuments],
})
export class AggregationModule implements OnModuleInit {
  constructor(
    private readonly context: ApiServerContext,
    private readonly store: MeasuredStore,
    private readonly table: ResourceTable,
    private readonly apis: AggregatedApis,
    private readonly documents: ServerDocuments,
    private readonly certificate: FrontProxyCertificate,
  ) {}

  onModuleInit(): void {
    const { context, store, table, apis, documents } = this;
    const { logger, lifecycle } = context;
    const { keyPrefix: prefix } = table.stored('apiregistration', 'apiservices')!;
    const name = 'API services';
    const followed = new FollowedPrefix({ store, prefix, name, observer: apis, logger });
    followed.start();
    this.followCertificate();
    lifecycle.onStop('aggregated API servers', () => {
      followed.stop();
      documents.stop();
      apis.stop();
    });
  }

  private followCertificate(): void {
    const { options, logger, lifecycle } = this.context;
    const { current } = this.certificate;
    if (!current) return;
    const certificate = new ReloadedTls({
      name: 'front-proxy',
      certificateFile: options.aggregation.proxyCertificateFile,
      keyFile: options.aggregation.proxyKeyFile,
      current: { pair: current },
      replace: ({ pair }) => {
        this.certificate.current = pair;
        this.apis.certificateChanged();
      },
      clock: systemClock,
      logger,
    });
    certificate.start();
    lifecycle.onStop('front-proxy certificate', () => certificate.stop());
  }
}
