/** Opens the store over an external etcd. */
import type { VersionedStore } from '../versioned-store.js';
import { type EtcdOptions, resolveEtcdOptions } from './etcd-options.js';
import { EtcdStore, type EtcdStoreDependencies } from './etcd-store.js';

/**
 * * Connects to any of the servers, reads everything below the prefix and follows the changes.
 *   Rejects with RangeError for invalid options, with StoreError `Unavailable` if no server
 *   responds within half a minute, and with `Corrupt` if the prefix has values that this store did
 *   not write.
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
