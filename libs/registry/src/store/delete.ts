/**
 * Deletes an object, in one or two steps. `finalization.ts` decides, this writes. Every write
 * expects the revision it was decided on, so that a finalizer added in the meantime always holds
 * the object.
 */
import type { ApiObject } from '@orch/api';
import { conflict, invalid, notFound } from '@orch/apimachinery';
import type { Entry } from '@orch/store';
import type { AdmissionRequest } from '../admission/admission.js';
import { updateAttemptsMax } from '../limits.js';
import type { DeleteOptions } from '../objects/delete-options.js';
import { freshObject, objectOf } from '../objects/entry-view.js';
import { planDeletion } from '../objects/finalization.js';
import { detachedEntry, storedBytes } from '../objects/object-bytes.js';
import type { ServedResource } from '../table/resource.js';
import type { WriteContext } from '../write-context.js';
import { release } from './allocation.js';
import type { ObjectStorage } from './object-storage.js';
import type { ObjectKey } from './update-strategy.js';

export interface DeleteResult {
  /** The object as stored now, or as it was last. */
  readonly entry: Entry;
  /** Nothing holds the object: it is removed. */
  readonly removed: boolean;
}

export class DeleteOperation {
  constructor(
    private readonly storage: ObjectStorage,
    private readonly key: ObjectKey,
    private readonly options: DeleteOptions,
    private readonly context: WriteContext,
  ) {}

  /** Throws StatusError (404, 409, 422) and StoreError. */
  async run(): Promise<DeleteResult> {
    const { storage, key, context } = this;
    const { groupResource, resource } = storage.served;
    const path = resource.key(key.namespace, key.name);
    for (let attempt = 1; attempt <= updateAttemptsMax; attempt += 1) {
      const entry = await storage.read(path, { kind: 'quorum' }, context.deadlineMs);
      if (!entry) throw notFound(groupResource, key.name);
      const result = await this.attempt(entry);
      if (result !== 'lost') return result;
    }
    throw conflict(groupResource, key.name);
  }

  private async attempt(entry: Entry): Promise<DeleteResult | 'lost'> {
    const { storage, options, context } = this;
    const { served } = storage;
    const { admission, clock } = storage.dependencies;
    const existing = objectOf(entry);
    this.check(existing);
    const request = this.admissionRequest(existing);
    await admission.mutate(request);
    await admission.validate(request);
    const object = freshObject(entry);
    const step = planDeletion(object, options, served.definition, context, clock.nowMs());
    if (step.kind === 'none') return { entry, removed: false };
    if (step.kind === 'remove') {
      if (context.dryRun) return { entry, removed: true };
      return (await this.remove(entry)) ? { entry, removed: true } : 'lost';
    }
    if (context.dryRun) {
      const last = detachedEntry(served.resource, step.object, entry.key);
      return { entry: last, removed: step.thenRemove };
    }
    const marked = await this.mark(entry, step.object);
    if (!marked) return 'lost';
    if (!step.thenRemove) return { entry: marked, removed: false };
    await this.removeMarked(marked);
    return { entry: marked, removed: true };
  }

  private admissionRequest(old: ApiObject): AdmissionRequest {
    return {
      operation: 'DELETE',
      served: this.storage.served,
      namespace: this.key.namespace,
      name: this.key.name,
      // A request for a collection names no object.
      requestedName: this.context.pathName,
      subresource: '',
      object: undefined,
      old,
      context: this.context,
      deleteOptions: this.options,
      ...(this.options.isReviewed && { review: 'none' }),
    };
  }

  private check(existing: ApiObject): void {
    const { served } = this.storage;
    const { name } = this.key;
    checkPreconditions(served, name, this.options, existing);
    const errors = served.definition.validateDelete?.(existing);
    if (errors && errors.length > 0) throw invalid(served.groupKind, name, errors);
  }

  /** Undefined when another writer was faster. */
  private async mark(entry: Entry, object: ApiObject): Promise<Entry | undefined> {
    const { storage, context } = this;
    const { resource } = storage.served;
    const result = await storage.commit(
      [
        {
          kind: 'put',
          key: entry.key,
          bytes: storedBytes(resource, object),
          revisionOffset: resource.revisionOffset,
          expect: { kind: 'revision', revision: entry.revision },
        },
      ],
      context.deadlineMs,
    );
    return result.succeeded ? result.entries[0] : undefined;
  }

  private async remove(entry: Entry): Promise<boolean> {
    const { storage, context } = this;
    const { key, revision } = entry;
    const result = await storage.commit(
      [
        { kind: 'delete', key, expect: { kind: 'revision', revision } },
        ...release(storage, context, freshObject(entry)),
      ],
      context.deadlineMs,
    );
    return result.succeeded;
  }

  /**
   * Removes an object that is marked for immediate removal, despite other writers, unless it is
   * held now.
   */
  private async removeMarked(marked: Entry): Promise<void> {
    const { storage, context } = this;
    const uid = objectOf(marked).metadata?.uid;
    let entry = marked;
    for (let attempt = 1; attempt <= updateAttemptsMax; attempt += 1) {
      if (await this.remove(entry)) return;
      const current = await storage.read(marked.key, { kind: 'quorum' }, context.deadlineMs);
      const metadata = current && objectOf(current).metadata;
      if (!current || metadata?.uid !== uid) return;
      if ((metadata?.finalizers?.length ?? 0) > 0) return;
      entry = current;
    }
    throw conflict(storage.served.groupResource, this.key.name);
  }
}

/** Throws 409 when the stored object is not the one that the client wants to delete. */
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
