/**
 * The patch that brings an object to a configuration: from what was applied last, what is to be applied
 * now, and what the server has. Fields that somebody else set stay; fields that were in the last
 * configuration and are not in this one go. With a schema it is a strategic merge patch (lists merged by
 * key), without one a merge patch. Pure; nothing given is changed.
 */
import { deepEqual, isJsonObject, type Json, type JsonObject } from '@orch/apimachinery';
import type { PatchField, PatchSchema } from './patch-schema.js';

/** Undefined: nothing to change. */
export function threeWayPatch(
  last: JsonObject,
  wanted: JsonObject,
  live: JsonObject,
  schema?: PatchSchema,
): JsonObject | undefined {
  return mapPatch(last, wanted, live, schema);
}

function mapPatch(
  last: JsonObject,
  wanted: JsonObject,
  live: JsonObject,
  schema: PatchSchema | undefined,
): JsonObject | undefined {
  const patch: JsonObject = {};
  for (const [key, value] of Object.entries(wanted)) {
    if (value === null) {
      if (live[key] !== undefined && live[key] !== null) patch[key] = null;
    } else {
      Object.assign(patch, fieldPatch(key, last[key], value, live[key], schema?.field(key)));
    }
  }
  for (const key of Object.keys(last)) {
    if (!(key in wanted) && live[key] !== undefined) patch[key] = null;
  }
  return Object.keys(patch).length > 0 ? patch : undefined;
}

/** The part of the patch about one field; several keys where a list needs directives. */
function fieldPatch(
  key: string,
  last: Json | undefined,
  wanted: Json,
  live: Json | undefined,
  field: PatchField | undefined,
): JsonObject {
  if (isJsonObject(wanted) && isJsonObject(live)) {
    const lastMap = isJsonObject(last) ? last : {};
    const patch = mapPatch(lastMap, wanted, live, field?.shape);
    if (!patch) return {};
    if (field?.retainKeys) patch.$retainKeys = keysOf(wanted);
    return { [key]: patch };
  }
  if (Array.isArray(wanted) && Array.isArray(live) && field?.merge) {
    const lastList = Array.isArray(last) ? last : [];
    return field.mergeKey === undefined
      ? scalarListPatch(key, lastList, wanted, live)
      : keyedListPatch(key, lastList, wanted, live, field, field.mergeKey);
  }
  return deepEqual(wanted, live) ? {} : { [key]: wanted };
}

/** Lists of scalars are sets: what is new is added, what was applied once and is gone is deleted. */
function scalarListPatch(
  key: string,
  last: readonly Json[],
  wanted: readonly Json[],
  live: readonly Json[],
): JsonObject {
  const added = wanted.filter((value) => !live.includes(value));
  const removed = last.filter((value) => !wanted.includes(value) && live.includes(value));
  return {
    ...(added.length > 0 && { [key]: added }),
    ...(removed.length > 0 && { [`$deleteFromPrimitiveList/${key}`]: removed }),
    ...(added.length + removed.length > 0 && { [`$setElementOrder/${key}`]: [...wanted] }),
  };
}

function keyedListPatch(
  key: string,
  last: readonly Json[],
  wanted: readonly Json[],
  live: readonly Json[],
  field: PatchField,
  mergeKey: string,
): JsonObject {
  if (hasTwins(wanted, mergeKey) || hasTwins(live, mergeKey)) {
    return replacement(key, last, wanted, live, field);
  }
  const [lastByKey, wantedByKey, liveByKey] = [last, wanted, live].map((list) =>
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

/** Elements that share a merge key cannot be told apart by it: such a list is replaced as a whole. */
function replacement(
  key: string,
  last: readonly Json[],
  wanted: readonly Json[],
  live: readonly Json[],
  field: PatchField,
): JsonObject {
  const same =
    wanted.length === live.length &&
    wanted.every((element, index) => {
      const patch = fieldPatch(key, last[index], element, live[index], { ...field, merge: false });
      return Object.keys(patch).length === 0;
    });
  return same ? {} : { [key]: [...wanted, { $patch: 'replace' }] };
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

/** Do the elements of `wanted` that `live` has stand there in the same sequence? */
function sameOrder(wanted: readonly string[], live: readonly string[]): boolean {
  const known = wanted.filter((id) => live.includes(id));
  const current = live.filter((id) => known.includes(id));
  return known.every((id, index) => id === current[index]);
}

function keysOf(map: JsonObject): string[] {
  return Object.keys(map)
    .filter((key) => map[key] !== null)
    .sort();
}
