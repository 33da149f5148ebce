/**
 * Maintains `metadata.managedFields` on writes: the rules around ownership. Identifying metadata is
 * never owned, timestamps follow changes, the number of update managers is limited, and an object
 * without managed fields gets its first manager on its first apply. Pure: the time is a parameter.
 */
import type { ManagedFieldsEntry } from '../generated/meta/v1.js';
import { updateManagerCountMax } from '../limits.js';
import { isJsonObject, type JsonObject } from '../patch/json-values.js';
import {
  difference,
  equalSets,
  type FieldSet,
  fieldSetOf,
  isEmptySet,
  noFields,
  union,
} from './field-set.js';
import { allowedByLastApplied, lastAppliedManagers, withLastApplied } from './last-applied.js';
import {
  entriesOf,
  type Manager,
  type Managers,
  managerId,
  managersSent,
  managersStored,
  sameEntries,
  setOwned,
} from './managers.js';
import {
  ApplyConflictError,
  applyOwnership,
  updateOwnership,
  type VersionedType,
} from './ownership.js';
import { compareText, FieldSetError } from './path-element.js';

const beforeFirstApply = 'before-first-apply';
const ancientChanges = 'ancient-changes';

const neverOwned: FieldSet = fieldSetOf(
  'apiVersion',
  'kind',
  'metadata',
  'metadata.name',
  'metadata.namespace',
  'metadata.creationTimestamp',
  'metadata.selfLink',
  'metadata.uid',
  'metadata.clusterName',
  'metadata.generation',
  'metadata.managedFields',
  'metadata.resourceVersion',
);

interface Tracked {
  readonly type: VersionedType;
  /** Version of the request and of the objects here. */
  readonly apiVersion: string;
  readonly manager: string;
  /** RFC 3339, seconds. */
  readonly now: string;
}

export interface TrackedUpdate extends Tracked {
  /** The stored object; undefined when the object is new. Neither it nor `object` is changed. */
  readonly live: JsonObject | undefined;
  /** The object from the client, with its own managed fields. */
  readonly object: JsonObject;
  /** Whether managed fields in the request are used. */
  readonly acceptsSentFields: boolean;
}

/**
 * Managed fields after an update; undefined if there are none. An object that cannot be tracked,
 * for example because a list has a duplicate key, gets none.
 */
export function managedFieldsAfterUpdate(update: TrackedUpdate): ManagedFieldsEntry[] | undefined {
  const { type, apiVersion, live, object } = update;
  const managers = managersBefore(update);
  if (managers.size === 0 && live !== undefined) return undefined;
  const before = live === undefined ? type.empty(apiVersion) : untracked(live);
  try {
    track(update, before, untracked(object), managers);
  } catch (error) {
    if (isTyping(error)) return undefined;
    throw error;
  }
  return entriesOf(managers);
}

function isTyping(error: unknown): boolean {
  return error instanceof Error && error.name === 'TypedError';
}

function managersBefore({ live, object, acceptsSentFields }: TrackedUpdate): Managers {
  const stored = managedFieldsOf(live);
  const sent = acceptsSentFields ? managedFieldsOf(object) : undefined;
  if (sent === undefined || sent.length === 0 || sameEntries(sent, stored)) {
    return managersStored(stored);
  }
  if (sent.length === 1 && isBlank(sent[0]!)) return new Map();
  try {
    return managersSent(sent);
  } catch (error) {
    if (error instanceof FieldSetError) return managersStored(stored);
    throw error;
  }
}

/** A single blank entry resets the managed fields. */
function isBlank(entry: ManagedFieldsEntry): boolean {
  return Object.values(entry).every((value) => value === undefined || value === null);
}

interface WithMetadata {
  readonly metadata?: { readonly managedFields?: readonly ManagedFieldsEntry[] | null };
}

function managedFieldsOf(
  object: JsonObject | undefined,
): readonly ManagedFieldsEntry[] | undefined {
  return (object as WithMetadata | undefined)?.metadata?.managedFields ?? undefined;
}

/** The object without its managed fields. */
function untracked(object: JsonObject): JsonObject {
  const { metadata } = object;
  if (!isJsonObject(metadata) || metadata.managedFields === undefined) return object;
  const { managedFields: _, ...rest } = metadata;
  return { ...object, metadata: rest };
}

function track(tracked: Tracked, before: JsonObject, after: JsonObject, managers: Managers): void {
  const { type, apiVersion, manager: name, now } = tracked;
  const id = managerId(name, 'Update', apiVersion);
  const former = managers.get(id);
  const taken = difference(
    updateOwnership({ type, apiVersion, before, after }, managers),
    neverOwned,
  );
  if (!isEmptySet(taken)) {
    const set = union(taken, managers.get(id)?.set ?? noFields);
    const isSame = former !== undefined && equalSets(set, former.set);
    const time = isSame ? former.time : now;
    managers.set(id, { name, operation: 'Update', apiVersion, set, time });
  }
  capUpdateManagers(managers);
}

/** Merges the oldest update managers of each version into one entry until the limit is met. */
function capUpdateManagers(managers: Managers): void {
  if (managers.size <= updateManagerCountMax) return;
  const writers = [...managers].filter(([, manager]) => manager.operation === 'Update');
  writers.sort(
    ([aId, a], [bId, b]) => compareText(a.time ?? '', b.time ?? '') || compareText(aId, bId),
  );
  let count = writers.length;
  const firsts = new Map<string, string>();
  for (const [id, manager] of writers) {
    if (count <= updateManagerCountMax) return;
    const { apiVersion } = manager;
    const first = firsts.get(apiVersion);
    if (first === undefined) {
      firsts.set(apiVersion, id);
      continue;
    }
    const bucketId = managerId(ancientChanges, 'Update', apiVersion);
    // Merges into the existing bucket. The bucket itself and the first manager become the bucket.
    const isBucket = id === bucketId || !managers.has(bucketId);
    const bucket = managers.get(isBucket ? first : bucketId)!;
    if (isBucket) {
      managers.delete(first);
      firsts.set(apiVersion, bucketId);
    }
    const set = union(manager.set, bucket.set);
    managers.delete(id);
    managers.set(bucketId, { ...manager, name: ancientChanges, set });
    count -= 1;
  }
}

export interface TrackedApply extends Tracked {
  /** The stored object, or the empty object when it is new. Neither it nor `config` is changed. */
  readonly live: JsonObject;
  /** Already checked against the type. */
  readonly config: JsonObject;
  readonly force: boolean;
}

export interface ApplyResult {
  /**
   * In the version of the request, not decoded, without managed fields. Shares structure with the
   * live object and the configuration.
   */
  readonly object: JsonObject;
  readonly managedFields: ManagedFieldsEntry[] | undefined;
}

/** Applies a configuration. Throws ApplyConflictError and TypedError. */
export function applyConfiguration(apply: TrackedApply): ApplyResult {
  const { type, apiVersion, config, manager } = apply;
  const live = untracked(apply.live);
  const managers = managersStored(managedFieldsOf(apply.live));
  if (managers.size === 0) {
    const first = { ...apply, manager: beforeFirstApply };
    track(first, type.empty(apiVersion), live, managers);
  }
  const applied = applyTracked({ ...apply, live }, managers);
  if (!lastAppliedManagers.has(manager)) return applied;
  return { ...applied, object: withLastApplied(applied.object, config) };
}

/** A field that client-side apply set, and that has not changed since, causes no conflict. */
function applyTracked(apply: TrackedApply, managers: Managers): ApplyResult {
  if (apply.force || !lastAppliedManagers.has(apply.manager)) return applyOnce(apply, managers);
  try {
    return applyOnce(apply, new Map(managers));
  } catch (error) {
    if (!(error instanceof ApplyConflictError)) throw error;
    const { type, apiVersion, live } = apply;
    const allowed = allowedByLastApplied(type.shape(apiVersion), apiVersion, live);
    if (allowed === undefined) throw error;
    const left = error.conflicts
      .map(({ manager, fields }) => ({ manager, fields: difference(fields, allowed) }))
      .filter(({ fields }) => !isEmptySet(fields));
    if (left.length > 0) throw new ApplyConflictError(left);
    return applyOnce({ ...apply, force: true }, managers);
  }
}

function applyOnce(apply: TrackedApply, managers: Managers): ApplyResult {
  const { manager: name, apiVersion, live, now } = apply;
  const id = managerId(name, 'Apply', apiVersion);
  const former = new Map(managers);
  const object = applyOwnership(apply, managers);
  const own = managers.get(id);
  if (own) setOwned(managers, id, { ...own, set: difference(own.set, neverOwned) });
  const mine = managers.get(id);
  if (mine && (object !== undefined || !sameManagers(former, managers))) {
    managers.set(id, { ...mine, time: now });
  }
  return { object: object ?? live, managedFields: entriesOf(managers) };
}

function sameManagers(a: Managers, b: Managers): boolean {
  if (a.size !== b.size) return false;
  for (const [id, manager] of a) {
    const other = b.get(id);
    if (other === undefined || !sameManager(manager, other)) return false;
  }
  return true;
}

function sameManager(a: Manager, b: Manager): boolean {
  return a.apiVersion === b.apiVersion && equalSets(a.set, b.set);
}
