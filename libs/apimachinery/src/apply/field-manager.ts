/**
 * Keeps `metadata.managedFields` of objects as they are written: the rules around ownership itself.
 * Metadata that identifies an object belongs to nobody, times follow what changed, writers of plain
 * updates are remembered up to a number, and an object that nobody has tracked gets its first owner when
 * it is first applied to. Pure: time comes in as text.
 */
import type { ManagedFieldsEntry } from '../generated/meta/v1.js';
import { updateManagersMax } from '../limits.js';
import type { JsonObject } from '../patch/json-values.js';
import {
  difference,
  equalSets,
  type FieldSet,
  isEmptySet,
  noFields,
  setOfFields,
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

const neverOwned: FieldSet = setOfFields(
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
  /** Version of the request, and of the objects here. */
  readonly apiVersion: string;
  readonly manager: string;
  /** RFC 3339, seconds. */
  readonly now: string;
}

export interface TrackedUpdate extends Tracked {
  /** As stored; undefined when the object is new. Not changed, nor is `object`. */
  readonly live: JsonObject | undefined;
  /** As it came from the client, with its own managed fields. */
  readonly object: JsonObject;
  /** Whether what the client says of managed fields counts. */
  readonly takesSent: boolean;
}

/**
 * Managed fields after a plain write; undefined for none. What cannot be tracked, such as a list with the
 * same key twice, leaves none.
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

function managersBefore({ live, object, takesSent }: TrackedUpdate): Managers {
  const stored = managedFieldsOf(live);
  const sent = takesSent ? managedFieldsOf(object) : undefined;
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

/** One entry that says nothing asks for a new start. */
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
  const metadata = object.metadata as JsonObject | null | undefined;
  if (metadata == null || metadata.managedFields === undefined) return object;
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

/** Merges the oldest writers of each version into one, until there are few enough. */
function capUpdateManagers(managers: Managers): void {
  if (managers.size <= updateManagersMax) return;
  const writers = [...managers].filter(([, manager]) => manager.operation === 'Update');
  writers.sort(
    ([aId, a], [bId, b]) => compareText(a.time ?? '', b.time ?? '') || compareText(aId, bId),
  );
  let count = writers.length;
  const firsts = new Map<string, string>();
  for (const [id, manager] of writers) {
    if (count <= updateManagersMax) return;
    const { apiVersion } = manager;
    const first = firsts.get(apiVersion);
    if (first === undefined) {
      firsts.set(apiVersion, id);
      continue;
    }
    const bucketId = managerId(ancientChanges, 'Update', apiVersion);
    // Into what was merged before; that itself takes the older one in, as does the first of all.
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
  /** As stored, or an object of which nothing is said when it is new. Not changed, nor is `config`. */
  readonly live: JsonObject;
  /** Checked to fit the type. */
  readonly config: JsonObject;
  readonly force: boolean;
}

export interface Applied {
  /** In the version of the request, not yet decoded, without managed fields. Shares parts of both. */
  readonly object: JsonObject;
  readonly managedFields: ManagedFieldsEntry[] | undefined;
}

/** Applies a configuration. Throws ApplyConflictError and TypedError. */
export function applyConfiguration(apply: TrackedApply): Applied {
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

/** Conflicts with what client-side apply has set, and nobody changed since, are none. */
function applyTracked(apply: TrackedApply, managers: Managers): Applied {
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

function applyOnce(apply: TrackedApply, managers: Managers): Applied {
  const { manager: name, apiVersion, live, now } = apply;
  const id = managerId(name, 'Apply', apiVersion);
  const former = new Map(managers);
  const object = applyOwnership(apply, managers) as JsonObject | undefined;
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
