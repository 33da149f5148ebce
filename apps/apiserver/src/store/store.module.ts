/** The store with its encryption, the table of resources and the index of claims. */
import { Module, type OnModuleInit } from '@nestjs/common';
import { EncryptedStore, MeasuredStore, StorageMetrics } from '@orch/apiserver';
import { Metrics, systemClock } from '@orch/component';
import { ClaimIndex, ResourceTable } from '@orch/registry';
import { ApiServerContext } from '../context/api-server-context.js';
import { encryptStore } from './encrypt-store.js';
import { OpenedStore, openStore } from './open-store.js';

const providers = [
  {
    provide: StorageMetrics,
    inject: [Metrics],
    useFactory: (metrics: Metrics) => new StorageMetrics(metrics),
  },
  {
    provide: OpenedStore,
    inject: [ApiServerContext, Metrics, StorageMetrics],
    useFactory: openStore,
  },
  {
    provide: ResourceTable,
    inject: [ApiServerContext],
    useFactory: ({ settings, features }: ApiServerContext) =>
      new ResourceTable(settings.definitions, settings.runtimeConfig, features),
  },
  {
    provide: EncryptedStore,
    inject: [OpenedStore, ApiServerContext],
    useFactory: encryptStore,
  },
  {
    provide: MeasuredStore,
    inject: [EncryptedStore, ResourceTable, Metrics],
    useFactory: (store: EncryptedStore, table: ResourceTable, metrics: Metrics) =>
      new MeasuredStore(store, table, systemClock, metrics),
  },
  {
    provide: ClaimIndex,
    inject: [MeasuredStore, ApiServerContext],
    useFactory: (store: MeasuredStore, { logger }: ApiServerContext) =>
      new ClaimIndex(store, logger),
  },
];

@Module({ providers, exports: providers.map(({ provide }) => provide) })
export class StoreModule implements OnModuleInit {
  constructor(
    private readonly context: ApiServerContext,
    private readonly claims: ClaimIndex,
  ) {}

  /** Does not wait: a replica with a damaged state is empty until the leader has sent the state. */
  onModuleInit(): void {
    this.claims.start();
    this.context.lifecycle.onStop('claims', () => this.claims.stop());
  }
}
