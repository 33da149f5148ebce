/**
 * How ownership moves: the rules for updates and for applied configurations, between managers that
 * may have written in different versions. Changes nothing but the map of managers.
 */
import type { JsonObject } from '../patch/json-values.js';
import { type Changes, compareObjects, isUnchanged, withoutFields, written } from './compare.js';
import {
  difference,
  type FieldSet,
  intersection,
  isEmptySet,
  recursiveDifference,
  union,
} from './field-set.js';
import { fieldsOf } from './fields-of.js';
import { type Manager, type Managers, managerId, setOwned } from './managers.js';
import { mergeObjects } from './merge.js';
import { reconciled, withNamedFields, withoutItems } from './remove.js';
import type { Shape } from './shape.js';

/** One kind in all its versions. */
export interface VersionedType {
  /** Undefined for a version that is no longer served. */
  shape(apiVersion: string): Shape | undefined;
  /** Converts the object to another served version. The result shares nothing with the input. */
  convert(object: JsonObject, from: string, to: string): JsonObject;
  /** Fields that this kind of write resets, by version: the writer does not become their owner. */
  ignored(apiVersion: string): FieldSet | undefined;
  /** An object without any fields set. */
  empty(apiVersion: string): JsonObject;
}

/** A field that another manager owns and the configuration would change. */
export interface Conflict {
  readonly manager: Manager;
  readonly fields: FieldSet;
}

export class ApplyConflictError extends Error {
  override readonly name = 'ApplyConflictError';

  constructor(readonly conflicts: readonly Conflict[]) {
    super('the configuration changes fields of other managers');
  }
}

interface Write {
  readonly type: VersionedType;
  readonly apiVersion: string;
  readonly before: JsonObject;
  readonly after: JsonObject;
}

function shapeFor(type: VersionedType, apiVersion: string): Shape {
  const shape = type.shape(apiVersion);
  if (!shape) throw new RangeError(`version ${apiVersion} is not served`);
  return shape;
}

function changesOf({ type, apiVersion, before, after }: Write): Changes {
  return compareObjects(shapeFor(type, apiVersion), before, after);
}

/**
 * Removes the changed fields from every manager but `writer`. Without `force`, removes nothing and
 * throws ApplyConflictError if another manager owns a set field. Returns the changes in the version
 * of the write, including ignored fields.
 */
function takeFromOthers(write: Write, managers: Managers, writer: string, force: boolean): Changes {
  const { type, apiVersion } = write;
  const changes = changesOf(write);
  if (managers.size === 0) return changes;
  const byVersion = new Map([[apiVersion, withoutFields(changes, type.ignored(apiVersion))]]);
  const left: [string, Manager][] = [];
  const conflicts: Conflict[] = [];
  for (const [id, manager] of managers) {
    if (id === writer) continue;
    const seen = changesIn(write, changes, manager.apiVersion, byVersion);
    if (!seen) {
      left.push([id, { ...manager, set: {} }]);
      continue;
    }
    if (isUnchanged(seen)) continue;
    const fields = intersection(manager.set, written(seen));
    if (!isEmptySet(fields)) conflicts.push({ manager, fields });
    const set = difference(difference(manager.set, fields), seen.removed);
    if (set !== manager.set) left.push([id, { ...manager, set }]);
  }
  if (!force && conflicts.length > 0) throw new ApplyConflictError(conflicts);
  for (const [id, manager] of left) setOwned(managers, id, manager);
  return changes;
}

/** The same changes in another version; undefined if that version is not served. */
function changesIn(
  write: Write,
  changes: Changes,
  apiVersion: string,
  known: Map<string, Changes>,
): Changes | undefined {
  const seen = known.get(apiVersion);
  const { type } = write;
  if (seen !== undefined || type.shape(apiVersion) === undefined) return seen;
  const there = isUnchanged(changes) ? changes : changesOf(inVersion(write, apiVersion));
  const result = withoutFields(there, type.ignored(apiVersion));
  known.set(apiVersion, result);
  return result;
}

function inVersion({ type, apiVersion, before, after }: Write, other: string): Write {
  return {
    type,
    apiVersion: other,
    before: type.convert(before, apiVersion, other),
    after: type.convert(after, apiVersion, other),
  };
}

/** Adapts stored sets to types that have changed since. */
function reconcile(type: VersionedType, managers: Managers): void {
  for (const [id, manager] of managers) {
    const set = reconciled(manager.set, type.shape(manager.apiVersion));
    if (set !== manager.set) setOwned(managers, id, { ...manager, set });
  }
}

/**
 * Tracks an update by a new manager and returns the fields that manager owns now. Throws
 * TypedError.
 */
export function updateOwnership(write: Write, managers: Managers): FieldSet {
  reconcile(write.type, managers);
  const changes = takeFromOthers(write, managers, '', true);
  if (isUnchanged(changes)) return {};
  const ignored = write.type.ignored(write.apiVersion);
  const set = difference(written(changes), changes.removed);
  return ignored ? recursiveDifference(set, ignored) : set;
}

export interface Application {
  readonly type: VersionedType;
  readonly apiVersion: string;
  readonly live: JsonObject;
  readonly config: JsonObject;
  readonly manager: string;
  readonly force: boolean;
}

/**
 * Applies a configuration that fits its type. Returns the new object, or undefined if it equals the
 * live one. Throws ApplyConflictError and TypedError.
 */
export function applyOwnership(
  application: Application,
  managers: Managers,
): JsonObject | undefined {
  const { type, apiVersion, live, config, manager, force } = application;
  reconcile(type, managers);
  const shape = shapeFor(type, apiVersion);
  const id = managerId(manager, 'Apply', apiVersion);
  const merged = mergeObjects(shape, live, config) as JsonObject;
  const last = managers.get(id);
  const ignored = type.ignored(apiVersion);
  const whole = fieldsOf(shape, config);
  const set = ignored ? recursiveDifference(whole, ignored) : whole;
  managers.set(id, { name: manager, operation: 'Apply', apiVersion, set, time: last?.time });
  const after = prune(application, merged, managers, last);
  const changes = takeFromOthers({ type, apiVersion, before: live, after }, managers, id, force);
  if (isEmptySet(set)) managers.delete(id);
  return isUnchanged(changes) ? undefined : after;
}

/** Removes fields that only this applier owned and no longer applies. */
function prune(
  { type, apiVersion }: Application,
  merged: JsonObject,
  managers: Managers,
  last: Manager | undefined,
): JsonObject {
  const shape = last && type.shape(last.apiVersion);
  if (!last || !shape || isEmptySet(last.set)) return merged;
  const mergedThen = convert(type, merged, apiVersion, last.apiVersion);
  const owned = withNamedFields(last.set, shape);
  const bare = objectWithout(shape, mergedThen, owned);
  const restored = addBackOwned(type, last.apiVersion, mergedThen, bare, managers);
  const pruned = addBackDangling(shape, mergedThen, restored, owned);
  return convert(type, pruned, last.apiVersion, apiVersion);
}

function convert(type: VersionedType, object: JsonObject, from: string, to: string): JsonObject {
  return from === to ? object : type.convert(object, from, to);
}

/** Restores fields owned by other managers or by this manager's new configuration. */
function addBackOwned(
  type: VersionedType,
  apiVersion: string,
  merged: JsonObject,
  pruned: JsonObject,
  managers: Managers,
): JsonObject {
  const byVersion = new Map<string, FieldSet>();
  // Start with the current version: another version may not be able to represent the removed
  // fields.
  byVersion.set(apiVersion, {});
  for (const { apiVersion: version, set } of managers.values()) {
    byVersion.set(version, union(byVersion.get(version) ?? {}, set));
  }
  let result = pruned;
  for (const [version, set] of byVersion) {
    const shape = type.shape(version);
    if (!shape) continue;
    const whole = convert(type, merged, apiVersion, version);
    const part = convert(type, result, apiVersion, version);
    const retained = union(
      withNamedFields(fieldsOf(shape, part), shape),
      withNamedFields(set, shape),
    );
    const gone = difference(withNamedFields(fieldsOf(shape, whole), shape), retained);
    const added = objectWithout(shape, whole, gone);
    result = convert(type, added, version, apiVersion);
  }
  return result;
}

/** Restores fields that this applier never owned: unowned fields and defaults. */
function addBackDangling(
  shape: Shape,
  merged: JsonObject,
  pruned: JsonObject,
  owned: FieldSet,
): JsonObject {
  const whole = withNamedFields(fieldsOf(shape, merged), shape);
  const part = withNamedFields(fieldsOf(shape, pruned), shape);
  return objectWithout(shape, merged, intersection(difference(whole, part), owned));
}

/** The object without the fields; they never include its kind, so that it is not null. */
function objectWithout(shape: Shape, object: JsonObject, removed: FieldSet): JsonObject {
  return withoutItems(shape, object, removed) as JsonObject;
}
