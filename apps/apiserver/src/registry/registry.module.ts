/** The registry with admission and custom resources, and the objects that the server creates. */
import { randomUUID } from 'node:crypto';
import { Module, type OnModuleInit } from '@nestjs/common';
import { ModuleRef } from '@nestjs/core';
import { serviceUnavailable } from '@orch/apimachinery';
import {
  AggregatedApis,
  checkAvailability,
  FollowedRoles,
  MeasuredStore,
  serviceResolver,
} from '@orch/apiserver';
import { dialect, Metrics, systemClock } from '@orch/component';
import { ClaimIndex, CustomResources, Registry, ResourceTable } from '@orch/registry';
import { RbacPolicy, WebhookClient } from '@orch/security';
import type { APIService } from '@orch/types/apiregistration/v1';
import { ApiServerContext } from '../context/api-server-context.js';
import { Security, SecurityModule } from '../security/security.module.js';
import { ClusterBootstrap } from '../store/cluster-bootstrap.js';
import { OpenedStore } from '../store/open-store.js';
import { StoreModule } from '../store/store.module.js';
import { AggregationModule } from './aggregation.module.js';
import { createRegistry } from './create-registry.js';

@Module({
  imports: [StoreModule, SecurityModule, AggregationModule],
  providers: [
    {
      provide: CustomResources,
      inject: [MeasuredStore, ResourceTable, ApiServerContext],
      useFactory: (store: MeasuredStore, table: ResourceTable, { logger }: ApiServerContext) =>
        new CustomResources({ store, table, clock: systemClock, logger }),
    },
    {
      provide: WebhookClient,
      inject: [ModuleRef, ApiServerContext],
      // Looks the registry up per call, because the admission plugins of the registry use webhooks.
      useFactory: (modules: ModuleRef, { settings }: ApiServerContext) =>
        new WebhookClient(
          (service, timeoutMs) => serviceResolver(modules.get(Registry))(service, timeoutMs),
          settings.egress,
        ),
    },
    {
      provide: Registry,
      inject: [
        ...[ApiServerContext, MeasuredStore, ResourceTable, ClaimIndex, CustomResources],
        ...[WebhookClient, Security, RbacPolicy, FollowedRoles, Metrics],
      ],
      useFactory: (
        context: ApiServerContext,
        store: MeasuredStore,
        table: ResourceTable,
        claims: ClaimIndex,
        customResources: CustomResources,
        webhooks: WebhookClient,
        { authorization }: Security,
        policy: RbacPolicy,
        roles: FollowedRoles,
        metrics: Metrics,
      ) =>
        createRegistry({
          ...{ context, store, table, claims, customResources, webhooks, metrics, policy, roles },
          authorize: authorization.authorize,
          newUid: randomUUID,
        }),
    },
    {
      provide: ClusterBootstrap,
      inject: [ApiServerContext, Registry, OpenedStore, AggregatedApis],
      useFactory: (
        context: ApiServerContext,
        registry: Registry,
        opened: OpenedStore,
        aggregated: AggregatedApis,
      ) =>
        new ClusterBootstrap({
          ...{ context, registry, opened },
          checkApiService: (object) =>
            checkApiService(aggregated, object, context.lifecycle.stopping),
        }),
    },
  ],
  exports: [CustomResources, Registry, ClusterBootstrap],
})
export class RegistryModule implements OnModuleInit {
  constructor(
    private readonly context: ApiServerContext,
    private readonly customResources: CustomResources,
    private readonly webhooks: WebhookClient,
    private readonly registry: Registry,
  ) {}

  onModuleInit(): void {
    const { lifecycle } = this.context;
    this.customResources.start();
    this.registry.admission.start();
    lifecycle.onStop('admission', () => this.registry.admission.stop());
    lifecycle.onStop('webhooks', () => this.webhooks.close());
    lifecycle.onStop('custom resources', () => this.customResources.stop());
  }
}

/** Rejects with 503, so that the check is repeated, if this replica cannot check now. */
async function checkApiService(
  aggregated: AggregatedApis,
  { spec }: APIService,
  stopping: AbortSignal,
): Promise<string | undefined> {
  const { group = '', version = '' } = spec ?? {};
  if (group === dialect().group('apiregistration')) return 'this server always serves the group';
  const server = aggregated.serverOf(group, version);
  if (!server) throw serviceUnavailable('the registration has not been applied yet');
  const failure = await checkAvailability(server, stopping);
  if (stopping.aborted) throw serviceUnavailable('the server is stopping');
  return failure;
}
