/**
 * Ownership of fields for the kinds that are served: the rules are the machinery's, here they get a
 * kind's versions, its conversions and what each way of writing sets back. Ownership is told in the
 * version of the request, from the object as the client sent it with defaults filled in: what admission
 * and the kind change after that belongs to nobody.
 */
import type { ApiObject } from '@orch/api';
import {
  type Applied,
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
import { metadataOf } from './object-metadata.js';
import type { Resource, ServedResource } from './resource.js';

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
    const copy = deepCopy(object) as ApiObject;
    const stored = this.version(from).toStored(copy);
    const converted = this.version(to).fromStored(stored);
    // Versions of custom resources have no stored form between them.
    if (this.resource.definition.custom) converted.apiVersion = to;
    return converted as Json;
  }

  ignored(): FieldSet {
    return this.resetFields;
  }

  empty(apiVersion: string): Json {
    return this.version(apiVersion).emptyObject as Json;
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

function setManagedFields(object: ApiObject, entries: Applied['managedFields']): void {
  const metadata = metadataOf(object);
  if (entries) metadata.managedFields = entries;
  else delete metadata.managedFields;
}

/** Tells of a plain write. `existing`: undefined for a new object. Both are in the stored shape. */
export function trackWrite(
  served: ServedResource,
  object: ApiObject,
  existing: ApiObject | undefined,
  write: {
    readonly manager: string;
    readonly nowMs: number;
    readonly resetFields: FieldSet;
    /** Whether the client may change managed fields itself. */
    readonly takesSent: boolean;
  },
): void {
  const entries = managedFieldsAfterUpdate({
    type: typeFor(served, write.resetFields),
    apiVersion: served.apiVersion,
    manager: write.manager,
    now: formatTime(write.nowMs),
    live: existing && (served.fromStored(existing) as Json),
    object: served.fromStored(object) as Json,
    takesSent: write.takesSent,
  });
  setManagedFields(object, entries);
}

/**
 * Merges a configuration into the stored object, or into nothing. The result is in the version of the
 * request and not decoded yet; it shares parts of both, so copy it before changing it. Throws ApplyConflictError and TypedError.
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
): Applied {
  const type = typeFor(served, apply.resetFields);
  const { apiVersion } = served;
  const live = existing && served.fromStored(existing);
  return applyConfiguration({
    type,
    apiVersion,
    manager: apply.manager,
    now: formatTime(apply.nowMs),
    live: (live as Json | undefined) ?? type.empty(apiVersion),
    config: apply.config,
    force: apply.force,
  });
}

/**
 * Objects that are too large only because of who owns what are kept without. Answers whether anything was
 * left out.
 */
export function leaveOwnersOut(error: unknown, object: ApiObject): boolean {
  if (!(error instanceof StoreError) || error.code !== 'TooLarge') return false;
  if (object.metadata?.managedFields === undefined) return false;
  delete object.metadata.managedFields;
  return true;
}

/** Where nothing but times of managed fields would change, they stay as they were. */
export function keepTimes(object: ApiObject, existing: ApiObject): void {
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
  return { ...object, metadata: { ...object.metadata, managedFields: undefined } } as ApiObject;
}
