export { type LocalStoreDependencies, openLocalStore } from './local-store.js';
export { createStore, ReplicatedStore, type StoreDependencies } from './replicated-store.js';
export type { StoreObserver } from './store-observer.js';
export { DEFAULT_STORE_OPTIONS, type StoreOptions } from './store-options.js';
export * from './versioned-store.js';
