/**
 * Computes the patch that brings a live object to a configuration, from the last applied
 * configuration, the new one and the live object. Fields that another client set stay. Fields that
 * the last configuration has and the new one lacks are removed. The result is a strategic merge
 * patch (lists merged by key) if there is a schema, otherwise a merge patch. Pure: no argument is
 * changed.
 */
import { deepEqual, isJsonObject, type Json, type JsonObject } from '@orch/apimachinery';
import type { PatchField, PatchSchema } from './patch-schema.js';

/** The patch. Undefined if nothing changes. */
export function threeWayPatch(
  last: JsonObject,
  desired: JsonObject,
  live: JsonObject,
  schema?: PatchSchema,
): JsonObject | undefined {
  return mapPatch(last, desired, live, schema);
}

function mapPatch(
  last: JsonObject,
  desired: JsonObject,
  live: JsonObject,
  schema: PatchSchema | undefined,
): JsonObject | undefined {
  const patch: JsonObject = {};
  for (const [key, value] of Object.entries(desired)) {
    if (value === null) {
      if (live[key] !== undefined && live[key] !== null) patch[key] = null;
    } else {
      Object.assign(patch, fieldPatch(key, last[key], value, live[key], schema?.field(key)));
    }
  }
  for (const key of Object.keys(last)) {
    if (!(key in desired) && live[key] !== undefined) patch[key] = null;
  }
  return Object.keys(patch).length > 0 ? patch : undefined;
}

/** The entries of the patch for one field: several if a list needs directives. */
function fieldPatch(
  key: string,
  last: Json | undefined,
  desired: Json,
  live: Json | undefined,
  field: PatchField | undefined,
): JsonObject {
  if (isJsonObject(desired) && isJsonObject(live)) {
    const lastMap = isJsonObject(last) ? last : {};
    const patch = mapPatch(lastMap, desired, live, field?.shape);
    if (!patch) return {};
    if (field?.retainKeys) patch.$retainKeys = keysOf(desired);
    return { [key]: patch };
  }
  if (Array.isArray(desired) && Array.isArray(live) && field?.merge) {
    const lastList = Array.isArray(last) ? last : [];
    return field.mergeKey === undefined
      ? scalarListPatch(key, lastList, desired, live)
      : keyedListPatch(key, lastList, desired, live, field, field.mergeKey);
  }
  return deepEqual(desired, live) ? {} : { [key]: desired };
}

/**
 * Treats a list of scalars as a set: adds new members, deletes members of the last configuration
 * that are missing from the new one.
 */
function scalarListPatch(
  key: string,
  last: readonly Json[],
  desired: readonly Json[],
  live: readonly Json[],
): JsonObject {
  const added = desired.filter((value) => !live.includes(value));
  const removed = last.filter((value) => !desired.includes(value) && live.includes(value));
  return {
    ...(added.length > 0 && { [key]: added }),
    ...(removed.length > 0 && { [`$deleteFromPrimitiveList/${key}`]: removed }),
    ...(added.length + removed.length > 0 && { [`$setElementOrder/${key}`]: [...desired] }),
  };
}

function keyedListPatch(
  key: string,
  last: readonly Json[],
  desired: readonly Json[],
  live: readonly Json[],
  field: PatchField,
  mergeKey: string,
): JsonObject {
  if (hasTwins(desired, mergeKey) || hasTwins(live, mergeKey)) {
    return replacement(key, last, desired, live, field);
  }
  const [lastByKey, wantedByKey, liveByKey] = [last, desired, live].map((list) =>
    elementsByKey(list, mergeKey),
  ) as [Elements, Elements, Elements];
  const changes: JsonObject[] = [];
  for (const [id, element] of wantedByKey) {
    const current = liveByKey.get(id);
    if (!current) {
      changes.push(element);
      continue;
    }
    const patch = mapPatch(lastByKey.get(id) ?? {}, element, current, field.shape);
    if (!patch) continue;
    if (field.retainKeys) patch.$retainKeys = keysOf(element);
    changes.push({ ...patch, [mergeKey]: element[mergeKey]! });
  }
  for (const [id, element] of lastByKey) {
    if (wantedByKey.has(id) || !liveByKey.has(id)) continue;
    changes.push({ [mergeKey]: element[mergeKey]!, $patch: 'delete' });
  }
  const order = [...wantedByKey.values()].map((element) => ({ [mergeKey]: element[mergeKey]! }));
  const inOrder = sameOrder([...wantedByKey.keys()], [...liveByKey.keys()]);
  if (changes.length === 0 && inOrder) return {};
  return {
    [`$setElementOrder/${key}`]: order,
    ...(changes.length > 0 && { [key]: changes }),
  };
}

/** Replaces the whole list, because elements that share a merge key cannot be merged by it. */
function replacement(
  key: string,
  last: readonly Json[],
  desired: readonly Json[],
  live: readonly Json[],
  field: PatchField,
): JsonObject {
  const same =
    desired.length === live.length &&
    desired.every((element, index) => {
      const patch = fieldPatch(key, last[index], element, live[index], { ...field, merge: false });
      return Object.keys(patch).length === 0;
    });
  return same ? {} : { [key]: [...desired, { $patch: 'replace' }] };
}

function hasTwins(list: readonly Json[], mergeKey: string): boolean {
  return elementsByKey(list, mergeKey).size < list.length;
}

type Elements = ReadonlyMap<string, JsonObject>;

function elementsByKey(list: readonly Json[], mergeKey: string): Elements {
  const elements = new Map<string, JsonObject>();
  for (const element of list) {
    if (isJsonObject(element)) elements.set(JSON.stringify(element[mergeKey] ?? null), element);
  }
  return elements;
}

/** Whether the elements that both lists have are in the same order. */
function sameOrder(desired: readonly string[], live: readonly string[]): boolean {
  const known = desired.filter((id) => live.includes(id));
  const current = live.filter((id) => known.includes(id));
  return known.every((id, index) => id === current[index]);
}

function keysOf(map: JsonObject): string[] {
  return Object.keys(map)
    .filter((key) => map[key] !== null)
    .sort();
}
