/** The versioned store: keys with revisions, history and watches, over a replicated log. */
export { type LocalStoreDependencies, openLocalStore } from './local-store.js';
export { createStore, ReplicatedStore, type StoreDependencies } from './replicated-store.js';
export type { StoreObserver } from './store-observer.js';
export { DEFAULT_STORE_OPTIONS, type StoreOptions } from './store-options.js';
export * from './versioned-store.js';
