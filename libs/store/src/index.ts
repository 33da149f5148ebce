/** The versioned store: keys with revisions, history and watches, over a replicated log. */
export { type Recovered, recoverDataDirectory } from './backup/recover.js';
export { type Restored, type RestoreRequest, restoreDataDirectory } from './backup/restore.js';
export { inspectSnapshot, type SnapshotFacts, saveSnapshot } from './backup/snapshot-file.js';
export type { EtcdOptions, EtcdTls } from './etcd/etcd-options.js';
export type { EtcdStoreDependencies } from './etcd/etcd-store.js';
export { openEtcdStore } from './etcd/open-etcd-store.js';
export {
  createInThreadStore,
  type InThreadStoreOptions,
  type StoreAndLog,
} from './in-thread-store.js';
export {
  openReplicatedStore,
  type ReplicatedStoreDependencies,
  type ReplicatedStoreOptions,
} from './open-replicated-store.js';
export { createStore, ReplicatedStore } from './replicated-store.js';
export type { StoreDependencies } from './store-dependencies.js';
export type { StoreObserver } from './store-observer.js';
export { defaultStoreOptions, type StoreOptions } from './store-options.js';
export * from './versioned-store.js';
