/**
 * Creates an object: name, system metadata, preparation, validation, allocation and one commit. The
 * operation is the request that admission sees.
 */
import { type ApiObject, createErrors, dropDisabledFields } from '@orch/api';
import {
  alreadyExists,
  badRequest,
  generatedName,
  generateNameConflict,
  invalid,
  serverTimeout,
} from '@orch/apimachinery';
import type { Entry, Operation } from '@orch/store';
import type { AdmissionRequest } from '../admission/admission.js';
import { allocationAttemptsMax, generatedNameAttemptsMax } from '../limits.js';
import { objectOf } from '../objects/entry-view.js';
import { dropManagedFieldsIfTooLarge, trackWrite } from '../objects/field-ownership.js';
import { listedErrors } from '../objects/listed-errors.js';
import { detachedEntry, storedBytes } from '../objects/object-bytes.js';
import {
  checkNamespace,
  dropRepeatedOwners,
  metadataOf,
  prepareMetadataForCreate,
} from '../objects/object-metadata.js';
import type { ServedResource } from '../table/resource.js';
import type { WriteContext } from '../write-context.js';
import { allocate } from './allocation.js';
import type { ObjectStorage } from './object-storage.js';
import { objectStrategy } from './strategies.js';

export class CreateOperation implements AdmissionRequest {
  readonly operation = 'CREATE';
  readonly subresource = '';
  readonly old = undefined;
  readonly served: ServedResource;
  readonly requestedName: string;

  /** `object`: in the stored shape; the operation changes it. */
  constructor(
    private readonly storage: ObjectStorage,
    readonly namespace: string,
    readonly object: ApiObject,
    readonly context: WriteContext,
  ) {
    this.served = storage.served;
    this.requestedName = object.metadata?.name ?? '';
  }

  get name(): string {
    return this.object.metadata?.name ?? '';
  }

  /**
   * The stored entry; for a dry run the entry that would be stored. Throws StatusError and
   * StoreError.
   */
  async run(): Promise<Entry> {
    await this.prepare();
    const { object, served } = this;
    const { random } = this.storage.dependencies;
    // Read only now: admission and the kind may have replaced the metadata.
    const metadata = metadataOf(object);
    const prefix = metadata.name ? '' : (metadata.generateName ?? '');
    for (let attempt = 1; ; attempt += 1) {
      const before = metadata.name || undefined;
      if (prefix !== '') metadata.name = generatedName(prefix, random);
      if (attempt === 1 || prefix !== '') {
        const previous = attempt === 1 ? undefined : before;
        served.definition.prepareNamed?.(object, previous, this.context);
      }
      if (attempt === 1) await this.validate();
      const entry = await this.store();
      if (entry !== 'nameTaken') return entry;
      if (attempt === generatedNameAttemptsMax) {
        throw generateNameConflict(served.groupResource, metadata.name ?? '');
      }
    }
  }

  private async prepare(): Promise<void> {
    const { object, served, context } = this;
    const { definition } = served;
    const { admission, clock, features, newUid } = this.storage.dependencies;
    this.dropRepeatedOwners(false);
    // Before ownership is tracked, and again because admission may set the fields.
    this.dropDisabledFields();
    if (context.fieldManager !== undefined) {
      trackWrite(served, object, undefined, {
        manager: context.fieldManager,
        nowMs: clock.nowMs(),
        resetFields: objectStrategy(served).resetFields,
        acceptsSentFields: true,
      });
    }
    if (!features.enabled('ServerSideApply')) delete object.metadata?.managedFields;
    await admission.mutate(this);
    this.dropRepeatedOwners(true);
    // Mutating webhooks see the object as it was sent.
    checkNamespace(served, object, this.namespace);
    prepareMetadataForCreate(object, definition, newUid(), clock.nowMs());
    this.dropDisabledFields();
    definition.prepareForCreate?.(object, context);
  }

  private dropDisabledFields(): void {
    const { gatedFields = [] } = this.served.definition;
    dropDisabledFields(this.object, undefined, gatedFields, this.storage.dependencies.features);
  }

  private dropRepeatedOwners(whenAdmitted: boolean): void {
    const warning = dropRepeatedOwners(this.object, whenAdmitted);
    if (warning !== undefined) this.context.warnings.push(warning);
  }

  private async validate(): Promise<void> {
    const { object, served, context } = this;
    const { definition } = served;
    const errors = listedErrors(() => createErrors(object, definition, context));
    if (errors.length > 0) throw invalid(served.groupKind, this.name, errors);
    if (definition.warnings) context.warnings.push(...definition.warnings(object));
    await this.storage.dependencies.admission.validate(this);
    definition.prepareForStorage?.(object);
    this.dropVersion();
  }

  /** Upstream ignores versions that are not numbers, and every version in a dry run. */
  private dropVersion(): void {
    const metadata = metadataOf(this.object);
    if (!this.context.dryRun && /^\d*[1-9]\d*$/.test(metadata.resourceVersion ?? '')) {
      throw badRequest('resourceVersion should not be set on objects to be created');
    }
    delete metadata.resourceVersion;
  }

  /**
   * Stores the object with what admission reserves for it; without managed fields if it is too
   * large.
   */
  private async store(): Promise<Entry | 'nameTaken'> {
    try {
      return await this.reserveAndCommit();
    } catch (error) {
      if (this.context.fieldManager === undefined) throw error;
      if (!dropManagedFieldsIfTooLarge(error, this.object)) throw error;
      return this.reserveAndCommit();
    }
  }

  private reserveAndCommit(): Promise<Entry | 'nameTaken'> {
    if (this.context.dryRun) return this.rehearse();
    return this.storage.dependencies.admission.reserving(
      this,
      () => this.commit(),
      (result) => result !== 'nameTaken',
    );
  }

  /** The entry that would be stored. */
  private async rehearse(): Promise<Entry | 'nameTaken'> {
    const { storage, served, namespace, name, context } = this;
    const key = served.resource.key(namespace, name);
    const current = await storage.read(key, { kind: 'quorum' }, context.deadlineMs);
    if (current && this.hasGeneratedName()) return 'nameTaken';
    if (current) throw this.alreadyExists(current);
    const candidate = this.candidate();
    allocate(storage, context, candidate, undefined);
    return detachedEntry(served.resource, candidate, key);
  }

  /** `nameTaken` only for generated names; a name that the client chose is rejected with 409. */
  private async commit(): Promise<Entry | 'nameTaken'> {
    const { storage, context, served } = this;
    const { admission } = storage.dependencies;
    for (let attempt = 1; attempt <= allocationAttemptsMax; attempt += 1) {
      const candidate = this.candidate();
      const claims = allocate(storage, context, candidate, undefined);
      const expectations = await admission.expectations(this);
      const result = await storage.commit(
        [this.put(candidate), ...claims, ...expectations],
        context.deadlineMs,
      );
      if (result.succeeded) return result.entries[0]!;
      if (result.failedOperation > 0) continue;
      if (this.hasGeneratedName()) return 'nameTaken';
      throw this.alreadyExists(result.current);
    }
    throw serverTimeout(served.groupResource, 'create', 1);
  }

  /** Allocation fills values in: an attempt that loses them must not change the object. */
  private candidate(): ApiObject {
    return this.served.definition.allocate ? structuredClone(this.object) : this.object;
  }

  private put(object: ApiObject): Operation {
    const { resource, definition } = this.served;
    return {
      kind: 'put',
      key: resource.key(this.namespace, this.name),
      bytes: storedBytes(resource, object),
      revisionOffset: resource.revisionOffset,
      ...(definition.timeToLiveMs !== undefined && { timeToLiveMs: definition.timeToLiveMs }),
      expect: { kind: 'absent' },
    };
  }

  private hasGeneratedName(): boolean {
    const { name = '', generateName } = metadataOf(this.object);
    return Boolean(generateName) && name !== generateName && name.startsWith(generateName!);
  }

  private alreadyExists(current: Entry | undefined): Error {
    const isTerminating =
      current !== undefined && objectOf(current).metadata?.deletionTimestamp !== undefined;
    return alreadyExists(this.served.groupResource, this.name, isTerminating);
  }
}
