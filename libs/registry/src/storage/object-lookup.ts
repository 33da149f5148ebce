/** Finds objects of the core group for authentication. */
import { dialect } from '@orch/component';
import type { StoreReader } from '@orch/store';
import type { Secret } from '@orch/types/core/v1';
import type { ObjectMeta } from '@orch/types/meta/v1';
import { objectLookupTimeoutMs } from '../limits.js';
import { objectOf } from '../objects/entry-view.js';
import type { ResourceTable } from '../table/resource-table.js';

/** An object as authentication sees it. */
interface FoundObject {
  readonly metadata?: ObjectMeta;
  readonly data?: Readonly<Record<string, string>>;
}

/**
 * Reports whether an object exists that `matches`. Memory is read first; that no object
 * matches is confirmed by a quorum read. Rejects with StoreError.
 */
export function objectLookup(store: StoreReader, table: ResourceTable) {
  return async (
    plural: string,
    namespace: string,
    name: string,
    matches: (object: FoundObject) => boolean,
  ): Promise<boolean> => {
    const key = table.stored('core', plural)?.key(namespace, name);
    if (key === undefined) return false;
    for (const kind of ['any', 'quorum'] as const) {
      const { entry } = await store.get(key, {
        consistency: { kind },
        timeoutMs: objectLookupTimeoutMs,
      });
      if (entry && matches(objectOf(entry) as FoundObject)) return true;
    }
    return false;
  };
}

/** Reads secrets of the system namespace from memory, without a quorum. Rejects with StoreError. */
export function systemSecretLookup(store: StoreReader, table: ResourceTable) {
  return async (name: string): Promise<Secret | undefined> => {
    const key = table.stored('core', 'secrets')?.key(dialect().systemNamespace, name);
    if (key === undefined) return undefined;
    const { entry } = await store.get(key, {
      consistency: { kind: 'any' },
      timeoutMs: objectLookupTimeoutMs,
    });
    return entry && (objectOf(entry) as Secret);
  };
}
