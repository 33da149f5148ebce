/**
 * Replace, patch and writes of subresources: produce the new object from the stored one and commit
 * it against the stored revision. A lost race is retried. The first attempt reads this replica's
 * memory; a refusal is confirmed by a quorum read before it reaches the client.
 */
import { type ApiObject, dropDisabledFields } from '@orch/api';
import { conflict, deepEqual, notFound, StatusError } from '@orch/apimachinery';
import type { Entry, Operation } from '@orch/store';
import type { AdmissionRequest } from '../admission/admission.js';
import { updateAttemptsMax } from '../limits.js';
import { freshObject, isStale, objectOf } from '../objects/entry-view.js';
import {
  dropManagedFieldsIfTooLarge,
  keepUnchangedTimes,
  trackWrite,
} from '../objects/field-ownership.js';
import { removedByUpdate } from '../objects/finalization.js';
import {
  detachedEntry,
  sameStoredBytes,
  storedBytes,
  versionEnd,
} from '../objects/object-bytes.js';
import {
  checkIdentity,
  checkNamespace,
  dropRepeatedOwners,
  prepareMetadataForUpdate,
} from '../objects/object-metadata.js';
import type { Resource, ServedResource } from '../table/resource.js';
import type { WriteContext } from '../write-context.js';
import { allocate, release } from './allocation.js';
import type { ObjectStorage } from './object-storage.js';
import { checkUid, checkUpdate, checkVersion } from './update-checks.js';
import type { ObjectKey, Update } from './update-strategy.js';

export class UpdateOperation {
  constructor(
    private readonly storage: ObjectStorage,
    private readonly key: ObjectKey,
    private readonly update: Update,
    private readonly context: WriteContext,
  ) {}

  /**
   * The stored entry; for a dry run the entry that would be stored. Throws StatusError and
   * StoreError.
   */
  async run(): Promise<Entry> {
    const { storage, key, update, context } = this;
    const { served } = storage;
    const { groupResource, resource } = served;
    const path = resource.key(key.namespace, key.name);
    let refusal: StatusError | undefined;
    let refused: Entry | undefined;
    for (let attempt = 1; attempt <= updateAttemptsMax; attempt += 1) {
      const consistency = { kind: attempt > 1 ? 'quorum' : 'any' } as const;
      const entry = await storage.read(path, consistency, context.deadlineMs);
      if (refusal && entry === refused) throw refusal;
      try {
        checkUid(served, key, update.uid, entry);
        if (!entry) throw notFound(groupResource, key.name);
        const object = await update.produce(objectOf(entry), entry);
        const outcome = await new UpdateAttempt(storage, key, update, context, entry, object).run();
        if (outcome !== 'lost') return outcome;
        refusal = undefined;
      } catch (error) {
        // Memory may be stale: confirm with a quorum read before refusing.
        if (attempt > 1 || !(error instanceof StatusError)) throw error;
        refusal = error;
        refused = entry;
      }
    }
    throw conflict(groupResource, key.name);
  }
}

/** One attempt, against one stored entry; it is the request that admission sees. */
class UpdateAttempt implements AdmissionRequest {
  readonly operation = 'UPDATE';
  readonly served: ServedResource;
  readonly namespace: string;
  readonly name: string;
  readonly subresource: string;
  readonly old: ApiObject;

  constructor(
    private readonly storage: ObjectStorage,
    key: ObjectKey,
    private readonly update: Update,
    readonly context: WriteContext,
    private readonly entry: Entry,
    readonly object: ApiObject,
  ) {
    this.served = storage.served;
    this.namespace = key.namespace;
    this.name = key.name;
    this.subresource = update.strategy.subresource;
    this.old = objectOf(entry);
  }

  get review(): AdmissionRequest['review'] {
    return this.update.review;
  }

  /** `lost`: another writer was faster. */
  async run(): Promise<Entry | 'lost'> {
    await this.prepare();
    const { storage, served, entry, object, old, context } = this;
    const { resource, definition } = served;
    const bytes = storedBytes(resource, object);
    if (removedByUpdate(object, old, definition)) return this.remove();
    if (isUnchanged(resource, bytes, object, entry)) return entry;
    const claims = allocate(storage, context, object, old);
    if (context.dryRun) return detachedEntry(resource, object, entry.key);
    try {
      return await this.commit(definition.allocate ? storedBytes(resource, object) : bytes, claims);
    } catch (error) {
      if (context.fieldManager === undefined) throw error;
      if (!dropManagedFieldsIfTooLarge(error, object)) throw error;
      return this.commit(storedBytes(resource, object), claims);
    }
  }

  private async prepare(): Promise<void> {
    const { served, object, old, context } = this;
    const { definition } = served;
    const { strategy } = this.update;
    const { admission } = this.storage.dependencies;
    checkIdentity(object, this.namespace, this.name);
    this.dropRepeatedOwners(false);
    // Before ownership is tracked, and again because admission may set the fields.
    this.dropDisabledFields();
    this.trackOwnership();
    await admission.mutate(this);
    this.dropRepeatedOwners(true);
    // Mutating webhooks see the object as it was sent.
    checkNamespace(served, object, this.namespace);
    checkVersion(served, this.name, object, this.entry);
    prepareMetadataForUpdate(object, old);
    this.dropDisabledFields();
    strategy.prepare(object, old, context);
    checkUpdate(served, this.name, strategy, object, old, context);
    if (definition.warnings) context.warnings.push(...definition.warnings(object));
    await admission.validate(this);
    keepUnchangedTimes(object, old);
  }

  private dropDisabledFields(): void {
    const { gatedFields = [] } = this.served.definition;
    dropDisabledFields(this.object, this.old, gatedFields, this.storage.dependencies.features);
  }

  private dropRepeatedOwners(whenAdmitted: boolean): void {
    const warning = dropRepeatedOwners(this.object, whenAdmitted);
    if (warning !== undefined) this.context.warnings.push(warning);
  }

  private trackOwnership(): void {
    const { served, object, old, context } = this;
    const { clock, features } = this.storage.dependencies;
    const { strategy } = this.update;
    if (context.fieldManager !== undefined) {
      trackWrite(served, object, old, {
        manager: context.fieldManager,
        nowMs: clock.nowMs(),
        resetFields: strategy.resetFields,
        acceptsSentFields: strategy.subresource === '',
      });
    }
    if (!features.enabled('ServerSideApply')) delete object.metadata?.managedFields;
  }

  private commit(bytes: Buffer, claims: readonly Operation[]): Promise<Entry | 'lost'> {
    const { storage, context } = this;
    const commit = async () => {
      const result = await storage.commit([this.put(bytes), ...claims], context.deadlineMs);
      return result.succeeded ? result.entries[0]! : 'lost';
    };
    return storage.dependencies.admission.reserving(this, commit, (result) => result !== 'lost');
  }

  private put(bytes: Buffer): Operation {
    const { resource } = this.served;
    const { timeToLiveMs } = resource.definition;
    const { key, revision } = this.entry;
    return {
      kind: 'put',
      key,
      bytes,
      revisionOffset: resource.revisionOffset,
      ...(timeToLiveMs !== undefined && { timeToLiveMs }),
      expect: { kind: 'revision', revision },
    };
  }

  /** The update removed the last finalizer of an object that is being deleted. */
  private async remove(): Promise<Entry | 'lost'> {
    const { storage, entry, context } = this;
    const { key, revision } = entry;
    const last = detachedEntry(this.served.resource, this.object, key);
    if (context.dryRun) return last;
    const operations: Operation[] = [
      { kind: 'delete', key, expect: { kind: 'revision', revision } },
      ...release(storage, context, freshObject(entry)),
    ];
    const result = await storage.commit(operations, context.deadlineMs);
    return result.succeeded ? last : 'lost';
  }
}

/** Whether the write would store the same object again; keys of maps may be in another order. */
function isUnchanged(resource: Resource, bytes: Buffer, object: ApiObject, entry: Entry): boolean {
  if (isStale(entry)) return false;
  if (sameStoredBytes(resource, bytes, entry)) return true;
  const versionBytes = versionEnd(resource, entry.bytes) - resource.revisionOffset;
  return bytes.length + versionBytes === entry.bytes.length && deepEqual(object, objectOf(entry));
}
