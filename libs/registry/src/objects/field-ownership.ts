/**
 * Field ownership for the served kinds: applies the rules of the API machinery to a kind's
 * versions, its conversions and the fields that each kind of write resets. Ownership is computed in
 * the version of the request, from the defaulted object of the client: changes by admission and by
 * the kind have no owner.
 */
import { type ApiObject, jsonOf } from '@orch/api';
import {
  type ApplyResult,
  applyConfiguration,
  deepCopy,
  deepEqual,
  type FieldSet,
  formatTime,
  type JsonObject,
  managedFieldsAfterUpdate,
  type Shape,
  type VersionedType,
} from '@orch/apimachinery';
import { StoreError } from '@orch/store';
import type { Resource, ServedResource } from '../table/resource.js';
import { metadataOf } from './object-metadata.js';

type Json = JsonObject;

/** A resource in all its versions, as one way of writing sees it. */
class WrittenType implements VersionedType {
  constructor(
    private readonly resource: Resource,
    private readonly resetFields: FieldSet,
  ) {}

  shape(apiVersion: string): Shape | undefined {
    const served = this.resource.versions.get(apiVersion);
    return served?.shape;
  }

  convert(object: Json, from: string, to: string): Json {
    const stored = this.version(from).toStored(deepCopy(object));
    const converted = this.version(to).fromStored(stored);
    // Versions of custom resources have no stored form between them.
    if (this.resource.definition.custom) converted.apiVersion = to;
    return jsonOf(converted);
  }

  ignored(): FieldSet {
    return this.resetFields;
  }

  empty(apiVersion: string): Json {
    return jsonOf(this.version(apiVersion).emptyObject);
  }

  private version(apiVersion: string): ServedResource {
    const served = this.resource.versions.get(apiVersion);
    if (!served) throw new RangeError(`${apiVersion} is not served`);
    return served;
  }
}

const types = new WeakMap<Resource, Map<FieldSet, WrittenType>>();

function typeFor({ resource }: ServedResource, resetFields: FieldSet): WrittenType {
  let ofResource = types.get(resource);
  if (!ofResource) {
    ofResource = new Map();
    types.set(resource, ofResource);
  }
  let type = ofResource.get(resetFields);
  if (!type) {
    type = new WrittenType(resource, resetFields);
    ofResource.set(resetFields, type);
  }
  return type;
}

function setManagedFields(object: ApiObject, entries: ApplyResult['managedFields']): void {
  const metadata = metadataOf(object);
  if (entries) metadata.managedFields = entries;
  else delete metadata.managedFields;
}

/** Tracks a plain write. `existing`: undefined for a new object. Both are in the stored shape. */
export function trackWrite(
  served: ServedResource,
  object: ApiObject,
  existing: ApiObject | undefined,
  write: {
    readonly manager: string;
    readonly nowMs: number;
    readonly resetFields: FieldSet;
    /** Whether the client may change managed fields itself. */
    readonly acceptsSentFields: boolean;
  },
): void {
  const entries = managedFieldsAfterUpdate({
    type: typeFor(served, write.resetFields),
    apiVersion: served.apiVersion,
    manager: write.manager,
    now: formatTime(write.nowMs),
    live: existing && jsonOf(served.fromStored(existing)),
    object: jsonOf(served.fromStored(object)),
    acceptsSentFields: write.acceptsSentFields,
  });
  setManagedFields(object, entries);
}

/**
 * Merges a configuration into the stored object, or into nothing. The result is in the version of
 * the request and not decoded yet; it shares parts of both, so copy it before changing it. Throws
 * ApplyConflictError and TypedError.
 */
export function applyTo(
  served: ServedResource,
  existing: ApiObject | undefined,
  apply: {
    readonly config: Json;
    readonly manager: string;
    readonly force: boolean;
    readonly nowMs: number;
    readonly resetFields: FieldSet;
  },
): ApplyResult {
  const type = typeFor(served, apply.resetFields);
  const { apiVersion } = served;
  return applyConfiguration({
    type,
    apiVersion,
    manager: apply.manager,
    now: formatTime(apply.nowMs),
    live: existing ? jsonOf(served.fromStored(existing)) : type.empty(apiVersion),
    config: apply.config,
    force: apply.force,
  });
}

/**
 * Removes the managed fields of an object that is too large only because of them. Returns whether
 * it has removed any.
 */
export function dropManagedFieldsIfTooLarge(error: unknown, object: ApiObject): boolean {
  if (!(error instanceof StoreError) || error.code !== 'TooLarge') return false;
  if (object.metadata?.managedFields === undefined) return false;
  delete object.metadata.managedFields;
  return true;
}

/** Where nothing but times of managed fields would change, they stay as they were. */
export function keepUnchangedTimes(object: ApiObject, existing: ApiObject): void {
  const entries = object.metadata?.managedFields ?? [];
  const old = existing.metadata?.managedFields ?? [];
  if (entries.length === 0 || entries.length !== old.length) return;
  if (entries.every((entry, index) => entry.time === old[index]?.time)) return;
  const isOwnedAlike = entries.every((entry) =>
    old.some((other) => deepEqual({ ...entry, time: '' }, { ...other, time: '' })),
  );
  if (isOwnedAlike && deepEqual(withoutOwners(object), withoutOwners(existing))) {
    metadataOf(object).managedFields = old.slice();
  }
}

function withoutOwners(object: ApiObject): ApiObject {
  return { ...object, metadata: { ...object.metadata, managedFields: undefined } };
}
