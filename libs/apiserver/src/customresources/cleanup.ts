/**
 * The end of a definition: its objects are deleted like by anybody, so that what holds them can still do
 * its work, and once there are none the definition goes. No new ones come meanwhile: every write of an
 * object expects the definition to be as the server that takes it knows it.
 */
import { cleanupFinalizer, setCondition, statusOf } from '@orch/api';
import { formatTime, isStatus } from '@orch/apimachinery';
import type { Entry } from '@orch/store';
import type { CustomResourceDefinition } from '@orch/types/apiextensions/v1beta1';
import { changeObject } from '../bootstrap/ensure-object.js';
import { cleanupConcurrency } from '../limits.js';
import { deleteByDefault, deleteObject } from '../registry/delete.js';
import { type RegistryParts, timeLeftMs, type WriteContext } from '../registry/registry-parts.js';
import type { ServedResource } from '../registry/resource.js';
import type { CustomParts } from './custom-parts.js';

const groupHead = 'apiextensions';
const plural = 'customresourcedefinitions';

/** Answers whether all are gone, and the definition with them. */
export async function removeObjects(
  parts: RegistryParts,
  customParts: CustomParts,
  context: WriteContext,
  name: string,
): Promise<boolean> {
  const served = parts.table.customInStorage(name);
  if (served) {
    const entries = await storedObjects(parts, context, served);
    if (entries.length > 0) {
      await tell(parts, context, name, {
        status: 'True',
        reason: 'InstanceDeletionInProgress',
        message: 'the objects of the definition are being deleted',
      });
      await deleteAll(customParts.of(served), context, served, entries);
      if ((await storedObjects(parts, context, served)).length > 0) return false;
    }
  }
  await tell(parts, context, name, {
    status: 'False',
    reason: 'InstanceDeletionCompleted',
    message: 'removed all instances',
  });
  const target = { plural, groupHead, name };
  await changeObject(parts, context, target, ({ metadata }: CustomResourceDefinition) => {
    const left = (metadata?.finalizers ?? []).filter((one) => one !== cleanupFinalizer());
    if (metadata) metadata.finalizers = left;
  });
  return true;
}

async function storedObjects(
  parts: RegistryParts,
  context: WriteContext,
  { resource }: ServedResource,
): Promise<readonly Entry[]> {
  const { entries } = await parts.store.list(resource.keyPrefix, {
    consistency: { kind: 'quorum' },
    timeoutMs: timeLeftMs(parts, context.deadlineMs),
  });
  return entries;
}

async function tell(
  parts: RegistryParts,
  context: WriteContext,
  name: string,
  finding: { readonly status: string; readonly reason: string; readonly message: string },
): Promise<void> {
  const now = formatTime(parts.clock.nowMs());
  const change = (fresh: CustomResourceDefinition) => {
    setCondition(statusOf(fresh), { type: 'Terminating', ...finding }, now);
  };
  await changeObject(parts, context, { plural, groupHead, name }, change, 'status');
}

async function deleteAll(
  parts: RegistryParts,
  context: WriteContext,
  served: ServedResource,
  entries: readonly Entry[],
): Promise<void> {
  const { resource } = served;
  let next = 0;
  const worker = async () => {
    for (let entry = entries[next++]; entry; entry = entries[next++]) {
      const namespace = resource.namespaceOfKey(entry.key);
      const target = { served, namespace, name: resource.nameOfKey(entry.key) };
      try {
        await deleteObject(parts, target, deleteByDefault, context);
      } catch (error) {
        // Gone already: that is what was wanted.
        if (!isStatus(error, 'NotFound')) throw error;
      }
    }
  };
  await Promise.all(Array.from({ length: cleanupConcurrency }, worker));
}
