/**
 * Deleting objects, in one or two steps. `finalization.ts` decides, this writes. Every write expects
 * the revision it was decided on, so that a finalizer added meanwhile always holds the object.
 */
import type { ApiObject } from '@orch/api';
import { conflict, invalid, notFound } from '@orch/apimachinery';
import type { Entry } from '@orch/store';
import { updateAttemptsMax } from '../limits.js';
import type { DeleteOptions } from '../request/write-options.js';
import { release } from './allocation.js';
import { freshObject, objectOf } from './entry-view.js';
import { planDeletion } from './finalization.js';
import { detachedEntry, storedBytes } from './object-bytes.js';
import {
  type RegistryParts,
  requestContext,
  type Target,
  timeLeftMs,
  type WriteContext,
} from './registry-parts.js';
import type { ServedResource } from './resource.js';

/** As a client deletes that says nothing further. */
export const deleteByDefault: DeleteOptions = {
  dryRun: false,
  gracePeriodSeconds: undefined,
  orphanDependents: undefined,
  propagationPolicy: undefined,
  preconditions: { uid: undefined, resourceVersion: undefined },
};

export interface DeleteResult {
  /** The object as it was left, or as it was last. */
  readonly entry: Entry;
  /** Nothing held it: it is gone. */
  readonly removed: boolean;
}

/** Throws StatusError (404, 409, 422) and StoreError. */
export async function deleteObject(
  parts: RegistryParts,
  target: Target,
  options: DeleteOptions,
  context: WriteContext,
): Promise<DeleteResult> {
  const { served, name } = target;
  const key = served.resource.key(target.namespace, name);
  for (let attempt = 1; attempt <= updateAttemptsMax; attempt += 1) {
    const { entry } = await parts.store.get(key, {
      consistency: { kind: 'quorum' },
      timeoutMs: timeLeftMs(parts, context.deadlineMs),
    });
    if (!entry) throw notFound(served.groupResource, name);
    const result = await attemptDelete(parts, target, options, context, entry);
    if (result !== 'lost') return result;
  }
  throw conflict(served.groupResource, name);
}

async function attemptDelete(
  parts: RegistryParts,
  target: Target,
  options: DeleteOptions,
  context: WriteContext,
  entry: Entry,
): Promise<DeleteResult | 'lost'> {
  const { served, namespace, name } = target;
  const { definition } = served;
  const existing = objectOf(entry);
  checkPreconditions(served, name, options, existing);
  const refusals = definition.validateDelete?.(existing);
  if (refusals && refusals.length > 0) throw invalid(served.groupKind, name, refusals);
  const request = requestContext(parts, context, served);
  await parts.admission.validate({
    operation: 'DELETE',
    served,
    namespace,
    name,
    subresource: '',
    object: undefined,
    old: existing,
    context: request,
    deadlineMs: context.deadlineMs,
  });
  const object = freshObject(entry);
  const step = planDeletion(object, options, definition, request, parts.clock.nowMs());
  if (step.kind === 'none') return { entry, removed: false };
  if (step.kind === 'remove') {
    if (context.dryRun) return { entry, removed: true };
    return (await remove(parts, served, context, entry)) ? { entry, removed: true } : 'lost';
  }
  if (context.dryRun) {
    const shown = detachedEntry(served.resource, step.object, entry.key);
    return { entry: shown, removed: step.thenRemove };
  }
  const marked = await mark(parts, served, context, entry, step.object);
  if (!marked) return 'lost';
  if (!step.thenRemove) return { entry: marked, removed: false };
  await removeMarked(parts, served, context, marked);
  return { entry: marked, removed: true };
}

function checkPreconditions(
  served: ServedResource,
  name: string,
  { preconditions }: DeleteOptions,
  existing: ApiObject,
): void {
  const target = { group: served.group, resource: served.kind };
  const { uid = '', resourceVersion = '' } = existing.metadata ?? {};
  if (preconditions.uid !== undefined && preconditions.uid !== uid) {
    throw conflict(
      target,
      name,
      `the UID in the precondition (${preconditions.uid}) does not match the UID in record (${uid}). The object might have been deleted and then recreated`,
    );
  }
  const expected = preconditions.resourceVersion;
  if (expected !== undefined && expected !== resourceVersion) {
    throw conflict(
      target,
      name,
      `the ResourceVersion in the precondition (${expected}) does not match the ResourceVersion in record (${resourceVersion}). The object might have been modified`,
    );
  }
}

/** Undefined when another writer was faster. */
async function mark(
  parts: RegistryParts,
  served: ServedResource,
  context: WriteContext,
  entry: Entry,
  object: ApiObject,
): Promise<Entry | undefined> {
  const { resource } = served;
  const result = await parts.store.commit(
    [
      {
        kind: 'put',
        key: entry.key,
        bytes: storedBytes(resource, object),
        revisionOffset: resource.revisionOffset,
        expect: { kind: 'revision', revision: entry.revision },
      },
    ],
    timeLeftMs(parts, context.deadlineMs),
  );
  return result.succeeded ? result.entries[0] : undefined;
}

async function remove(
  parts: RegistryParts,
  served: ServedResource,
  context: WriteContext,
  entry: Entry,
): Promise<boolean> {
  const result = await parts.store.commit(
    [
      { kind: 'delete', key: entry.key, expect: { kind: 'revision', revision: entry.revision } },
      ...release(parts, served, context, freshObject(entry)),
    ],
    timeLeftMs(parts, context.deadlineMs),
  );
  return result.succeeded;
}

/** Removes what has been marked to go at once, whoever writes to it meanwhile, unless it is held now. */
async function removeMarked(
  parts: RegistryParts,
  served: ServedResource,
  context: WriteContext,
  marked: Entry,
): Promise<void> {
  const uid = objectOf(marked).metadata?.uid;
  let entry = marked;
  for (let attempt = 1; attempt <= updateAttemptsMax; attempt += 1) {
    if (await remove(parts, served, context, entry)) return;
    const current = await parts.store.get(marked.key, {
      consistency: { kind: 'quorum' },
      timeoutMs: timeLeftMs(parts, context.deadlineMs),
    });
    const metadata = current.entry && objectOf(current.entry).metadata;
    if (!current.entry || metadata?.uid !== uid) return;
    if ((metadata?.finalizers?.length ?? 0) > 0) return;
    entry = current.entry;
  }
  throw conflict(served.groupResource, served.resource.nameOfKey(marked.key));
}
