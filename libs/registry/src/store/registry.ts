/** Every served resource with its store, and what all of them share. */
import type { EntryCodec } from '../storage/entry-codec.js';
import type { ServedResource } from '../table/resource.js';
import type { ResourceTable } from '../table/resource-table.js';
import { ObjectStorage, type StorageDependencies } from './object-storage.js';
import { ResourceStore } from './resource-store.js';

export interface RegistryDependencies extends StorageDependencies {
  readonly table: ResourceTable;
  /** The codec of a custom resource's version. Throws 503 while its definition changes. */
  readonly codecFor: (served: ServedResource) => EntryCodec;
}

export class Registry {
  private readonly stores = new WeakMap<ServedResource, ResourceStore>();

  constructor(private readonly dependencies: RegistryDependencies) {}

  get table() {
    return this.dependencies.table;
  }

  get clock() {
    return this.dependencies.clock;
  }

  get features() {
    return this.dependencies.features;
  }

  get admission() {
    return this.dependencies.admission;
  }

  get random() {
    return this.dependencies.random;
  }

  /** The store below all resources, for keys that are not objects of one resource. */
  get rawStore() {
    return this.dependencies.store;
  }

  /**
   * The store of a served resource. Throws 503 while the definition of a custom resource changes.
   */
  store(served: ServedResource): ResourceStore {
    let store = this.stores.get(served);
    if (!store) {
      const codec = served.definition.custom ? this.dependencies.codecFor(served) : undefined;
      store = new ResourceStore(new ObjectStorage(served, this.dependencies, codec));
      this.stores.set(served, store);
    }
    return store;
  }

  /** The store of a built-in kind in its stored version. Throws if it is not served. */
  storeOf(plural: string, groupHead = 'core'): ResourceStore {
    const served = this.table.inStoredVersion(groupHead, plural);
    if (!served) throw new Error(`${groupHead}/${plural} is not a resource of this server`);
    return this.store(served);
  }

  /** Time left for a call of the store; at least one millisecond. */
  timeLeftMs(deadlineMs: number): number {
    return Math.max(1, Math.ceil(deadlineMs - this.clock.monotonicMs()));
  }
}
