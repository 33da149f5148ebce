/**
 * Strategic merge patch: a merge patch that uses the schema. Lists with a merge key are merged by
 * element, lists of scalars with the merge strategy as sets; directives in the patch (`$patch`,
 * `$deleteFromPrimitiveList/<list>`, `$setElementOrder/<list>`, `$retainKeys`) delete, replace and
 * order. Directives only apply where the document has a value; new values are used unchanged. The
 * document is never changed; the result may share structure with it and with the patch.
 */
import { patchDepthMax } from '../limits.js';
import { badRequest } from '../status/errors.js';
import { orderElements } from './element-order.js';
import {
  deepCopy,
  deepEqual,
  hasKey,
  isDeeperThan,
  isJsonObject,
  type Json,
  type JsonObject,
  setKey,
} from './json-values.js';
import { freeFormShape, type MergeField, type MergeSchema } from './merge-schema.js';

const patchDirective = '$patch';
const retainKeysDirective = '$retainKeys';
const deletePrefix = '$deleteFromPrimitiveList/';
const orderPrefix = '$setElementOrder/';

/** Throws StatusError, in the wording of the interface, for patches that cannot be applied. */
export function applyStrategicMergePatch(
  document: JsonObject,
  patch: JsonObject,
  schema: MergeSchema,
): JsonObject {
  if (isDeeperThan(patch, patchDepthMax)) {
    throw badRequest(`patch is nested deeper than ${patchDepthMax} levels`);
  }
  return mergeMap(deepCopy(document), deepCopy(patch), schema, 0);
}

function mergeMap(
  original: JsonObject,
  patch: JsonObject,
  schema: MergeSchema,
  depth: number,
): JsonObject {
  if (depth > patchDepthMax)
    throw badRequest(`patch is nested deeper than ${patchDepthMax} levels`);
  if (hasKey(patch, patchDirective)) return directMap(patch);
  retainKeys(original, patch);
  applyElementOrders(original, patch, schema, depth);
  for (const key of Object.keys(patch)) {
    const value = patch[key] ?? null;
    if (key.startsWith(deletePrefix)) {
      deleteFromList(original, key.slice(deletePrefix.length), value);
    } else if (value === null) {
      delete original[key];
    } else if (!hasKey(original, key)) {
      setKey(original, key, withoutNulls(value));
    } else {
      setKey(original, key, mergeValue(original[key] ?? null, value, schema.field(key), depth));
    }
  }
  return original;
}

function mergeValue(
  current: Json,
  value: Json,
  field: MergeField | undefined,
  depth: number,
): Json {
  if (isJsonObject(current) && isJsonObject(value)) {
    return mergeMap(current, value, field?.shape ?? freeFormShape, depth + 1);
  }
  if (Array.isArray(current) && Array.isArray(value) && field?.merge) {
    return mergeList(current, value, field, depth + 1);
  }
  return value;
}

/** Handles a map with `$patch`, which replaces or deletes the map it would be merged into. */
function directMap(patch: JsonObject): JsonObject {
  const directive = patch[patchDirective];
  if (directive === 'replace') {
    delete patch[patchDirective];
    return patch;
  }
  if (directive === 'delete') return {};
  throw unknownDirective(patch);
}

function unknownDirective(patch: JsonObject): Error {
  const directive = patch[patchDirective];
  const directiveText = typeof directive === 'string' ? directive : JSON.stringify(directive);
  return badRequest(`unknown patch type: ${directiveText} in map: ${JSON.stringify(patch)}`);
}

/**
 * Deletes the keys of a union-like field that are not retained. The list must name every key of the
 * patch.
 */
function retainKeys(original: JsonObject, patch: JsonObject): void {
  if (!hasKey(patch, retainKeysDirective)) return;
  const retained = patch[retainKeysDirective];
  delete patch[retainKeysDirective];
  if (!Array.isArray(retained)) throw badRequest('invalid patch format of retainKeys');
  const keep = new Set(retained);
  for (const key of Object.keys(patch)) {
    const plain = key.startsWith(deletePrefix) || key.startsWith(orderPrefix);
    if (!plain && patch[key] !== null && !keep.has(key)) {
      throw badRequest('invalid patch format of retainKeys');
    }
  }
  for (const key of Object.keys(original)) if (!keep.has(key)) delete original[key];
}

function deleteFromList(original: JsonObject, key: string, values: Json): void {
  if (!Array.isArray(values)) {
    throw badRequest(`invalid patch format of ${deletePrefix}${key}`);
  }
  const current = original[key];
  if (!Array.isArray(current)) return;
  setKey(
    original,
    key,
    current.filter((item) => !values.some((value) => deepEqual(item, value))),
  );
}

/** Applies `$setElementOrder/x` together with the change to `x`, if there is one. */
function applyElementOrders(
  original: JsonObject,
  patch: JsonObject,
  schema: MergeSchema,
  depth: number,
): void {
  for (const directive of Object.keys(patch)) {
    if (!directive.startsWith(orderPrefix)) continue;
    const key = directive.slice(orderPrefix.length);
    const order = patch[directive] ?? null;
    const change = patch[key] ?? [];
    const deletions = patch[`${deletePrefix}${key}`];
    delete patch[directive];
    delete patch[key];
    delete patch[`${deletePrefix}${key}`];
    if (!Array.isArray(order) || !Array.isArray(change)) {
      throw badRequest(`invalid patch format of ${orderPrefix}${key}`);
    }
    const field = schema.field(key);
    const identity = identityBy(field);
    checkOrder(change, order, identity);
    const server = original[key];
    if (!Array.isArray(server)) {
      if (change.length > 0) setKey(original, key, change);
      continue;
    }
    if (deletions !== undefined) deleteFromList(original, key, deletions);
    const left = original[key];
    const merged = field
      ? mergeElements(Array.isArray(left) ? left : [], change, field, depth + 1)
      : change;
    setKey(original, key, orderElements(merged, order, server, identity));
  }
}

/** Every element of the change must be in the order list, in the same sequence. */
function checkOrder(
  change: readonly Json[],
  order: readonly Json[],
  identity: (e: Json) => string,
) {
  let position = 0;
  for (const element of change) {
    if (isJsonObject(element) && hasKey(element, patchDirective)) continue;
    const id = identity(element);
    while (position < order.length && identity(order[position] ?? null) !== id) position += 1;
    if (position === order.length) {
      throw badRequest(
        `The order in patch list:\n${JSON.stringify(change)}\n doesn't match $setElementOrder list:\n${JSON.stringify(order)}\n`,
      );
    }
    position += 1;
  }
}

function identityBy(field: MergeField | undefined): (element: Json) => string {
  const mergeKey = field?.mergeKey;
  return (element) =>
    JSON.stringify(
      mergeKey !== undefined && isJsonObject(element) ? (element[mergeKey] ?? null) : element,
    );
}

function mergeList(
  current: readonly Json[],
  patch: readonly Json[],
  field: MergeField,
  depth: number,
): Json[] {
  const merged = mergeElements(current, patch, field, depth);
  if (isReplacement(patch)) return merged;
  return orderElements(merged, patch, current, identityBy(field));
}

function isReplacement(patch: readonly Json[]): boolean {
  return patch.some((element) => isJsonObject(element) && element[patchDirective] === 'replace');
}

/** Merges without order; `replace` and `delete` elements of the patch apply first. */
function mergeElements(
  current: readonly Json[],
  patch: readonly Json[],
  field: MergeField,
  depth: number,
): Json[] {
  const { mergeKey } = field;
  if (mergeKey === undefined) return mergeScalars(current, patch);
  let result = [...current];
  const changes: JsonObject[] = [];
  let replaced = false;
  for (const element of patch) {
    if (!isJsonObject(element)) {
      throw badRequest(`list element is not a map: ${JSON.stringify(element)}`);
    }
    const directive = element[patchDirective];
    if (directive === undefined) changes.push(element);
    else if (directive === 'replace') replaced = true;
    else if (directive === 'delete') {
      const id = keyOf(element, mergeKey);
      result = result.filter((item) => !isJsonObject(item) || keyOf(item, mergeKey) !== id);
    } else if (directive === 'merge') {
      throw badRequest('merging lists cannot yet be specified in the patch');
    } else throw unknownDirective(element);
  }
  if (replaced) return changes;
  for (const change of changes) mergeElement(result, change, mergeKey, field, depth);
  return result;
}

function mergeScalars(current: readonly Json[], patch: readonly Json[]): Json[] {
  const seen = new Set<Json>();
  return [...current, ...patch].filter((value) => !seen.has(value) && seen.add(value));
}

function mergeElement(
  result: Json[],
  change: JsonObject,
  mergeKey: string,
  field: MergeField,
  depth: number,
): void {
  const id = keyOf(change, mergeKey);
  const index = result.findIndex((item) => isJsonObject(item) && keyOf(item, mergeKey) === id);
  const current = result[index];
  if (current === undefined || !isJsonObject(current)) result.push(withoutNulls(change));
  else result[index] = mergeMap(current, change, field.shape ?? freeFormShape, depth + 1);
}

function keyOf(element: JsonObject, mergeKey: string): string {
  if (!hasKey(element, mergeKey)) {
    throw badRequest(
      `map: ${JSON.stringify(element)} does not contain declared merge key: ${mergeKey}`,
    );
  }
  return JSON.stringify(element[mergeKey]);
}

/** Prepares a new value for the document: nulls in maps mean absence here too. */
function withoutNulls(value: Json): Json {
  if (!isJsonObject(value)) return value;
  for (const key of Object.keys(value)) {
    const part = value[key] ?? null;
    if (part === null) delete value[key];
    else withoutNulls(part);
  }
  return value;
}
