/** Opens the store over an external etcd. */
import type { VersionedStore } from '../versioned-store.js';
import { type EtcdOptions, resolveEtcdOptions } from './etcd-options.js';
import { EtcdStore, type EtcdStoreDependencies } from './etcd-store.js';

/**
 * Connects to any of the servers, reads everything below the prefix and follows the changes. Rejects
 * with RangeError for options that cannot be used, with StoreError `Unavailable` when no server answers
 * within half a minute, and with `Corrupt` when the prefix holds what this store did not write.
 */
export async function openEtcdStore(
  options: EtcdOptions,
  dependencies: EtcdStoreDependencies,
): Promise<VersionedStore> {
  const store = new EtcdStore(resolveEtcdOptions(options), dependencies);
  try {
    await store.start();
  } catch (error) {
    await store.stop();
    throw error;
  }
  return store;
}
