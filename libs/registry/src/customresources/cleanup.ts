/**
 * Deletes the objects of a definition that is being deleted, like a client, so that finalizers
 * still hold them; then removes the definition. No object is created in the meantime: every write
 * of a custom resource checks the definition as the writing server knows it.
 */
import { cleanupFinalizer, setCondition, statusOf } from '@orch/api';
import { formatTime, isStatus } from '@orch/apimachinery';
import type { CustomResourceDefinition } from '@orch/types/apiextensions/v1beta1';
import { cleanupConcurrency } from '../limits.js';
import { defaultDeleteOptions } from '../objects/delete-options.js';
import type { KindName, SystemObjectsWriter } from '../reconciling/system-objects-writer.js';
import type { ServedResource } from '../table/resource.js';

const definitions: KindName = {
  plural: 'customresourcedefinitions',
  groupHead: 'apiextensions',
};

/** Returns whether all objects and the definition are removed. `name`: of the definition. */
export async function removeObjects(writer: SystemObjectsWriter, name: string): Promise<boolean> {
  const served = writer.registry.table.customInStorage(name);
  if (served) {
    const keys = await storedKeys(writer, served);
    if (keys.length > 0) {
      await setTerminating(writer, name, {
        status: 'True',
        reason: 'InstanceDeletionInProgress',
        message: 'the objects of the definition are being deleted',
      });
      await deleteAll(writer, served, keys);
      if ((await storedKeys(writer, served)).length > 0) return false;
    }
  }
  await setTerminating(writer, name, {
    status: 'False',
    reason: 'InstanceDeletionCompleted',
    message: 'removed all instances',
  });
  const key = { namespace: '', name };
  await writer.change(definitions, key, ({ metadata }: CustomResourceDefinition) => {
    const others = (metadata?.finalizers ?? []).filter((name) => name !== cleanupFinalizer());
    if (metadata) metadata.finalizers = others;
  });
  return true;
}

async function storedKeys(
  { registry, context }: SystemObjectsWriter,
  { resource }: ServedResource,
): Promise<readonly string[]> {
  const { entries } = await registry.rawStore.list(resource.keyPrefix, {
    consistency: { kind: 'quorum' },
    timeoutMs: registry.timeLeftMs(context.deadlineMs),
  });
  return entries.map(({ key }) => key);
}

async function setTerminating(
  writer: SystemObjectsWriter,
  name: string,
  condition: { readonly status: string; readonly reason: string; readonly message: string },
): Promise<void> {
  const now = formatTime(writer.registry.clock.nowMs());
  const change = (fresh: CustomResourceDefinition) => {
    setCondition(statusOf(fresh), { type: 'Terminating', ...condition }, now);
  };
  await writer.change(definitions, { namespace: '', name }, change, 'status');
}

async function deleteAll(
  { registry, context }: SystemObjectsWriter,
  served: ServedResource,
  keys: readonly string[],
): Promise<void> {
  const { resource } = served;
  const store = registry.store(served);
  let next = 0;
  const worker = async () => {
    for (let key = keys[next++]; key !== undefined; key = keys[next++]) {
      const target = { namespace: resource.namespaceOfKey(key), name: resource.nameOfKey(key) };
      try {
        await store.delete(target, defaultDeleteOptions, context);
      } catch (error) {
        // Deleted already, which is the goal.
        if (!isStatus(error, 'NotFound')) throw error;
      }
    }
  };
  await Promise.all(Array.from({ length: cleanupConcurrency }, worker));
}
