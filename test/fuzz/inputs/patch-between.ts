/** Patches that turn one document into another, as clients compute them. */
import {
  deepEqual,
  isJsonObject,
  type Json,
  type JsonObject,
  mergeSchemaOf,
} from '@orch/apimachinery';

type Schema = ReturnType<typeof mergeSchemaOf>;

/** A merge patch between documents without null. */
export function mergePatchBetween(from: JsonObject, to: JsonObject): JsonObject {
  const patch: JsonObject = {};
  for (const name of Object.keys(from)) if (!Object.hasOwn(to, name)) patch[name] = null;
  for (const [name, value] of Object.entries(to)) {
    const old = Object.hasOwn(from, name) ? from[name]! : undefined;
    if (old !== undefined && deepEqual(old, value)) continue;
    const isMerged = old !== undefined && isJsonObject(old) && isJsonObject(value);
    patch[name] = isMerged ? mergePatchBetween(old, value) : value;
  }
  return patch;
}

type Operation = {
  readonly op: 'add' | 'remove' | 'replace' | 'test';
  readonly path: string;
  readonly value?: Json;
};

function step(path: string, name: string | number): string {
  return `${path}/${String(name).replaceAll('~', '~0').replaceAll('/', '~1')}`;
}

/** A JSON patch, which tests members before it removes them. */
export function jsonPatchBetween(from: Json, to: Json, path = ''): Operation[] {
  if (deepEqual(from, to)) return [];
  if (Array.isArray(from) && Array.isArray(to)) return listOperations(from, to, path);
  if (!isJsonObject(from) || !isJsonObject(to)) return [{ op: 'replace', path, value: to }];
  const removed = Object.keys(from).filter((name) => !Object.hasOwn(to, name));
  return [
    ...removed.flatMap((name): Operation[] => [
      { op: 'test', path: step(path, name), value: from[name]! },
      { op: 'remove', path: step(path, name) },
    ]),
    ...Object.entries(to).flatMap(([name, value]): Operation[] =>
      Object.hasOwn(from, name)
        ? jsonPatchBetween(from[name]!, value, step(path, name))
        : [{ op: 'add', path: step(path, name), value }],
    ),
  ];
}

function listOperations(from: readonly Json[], to: readonly Json[], path: string): Operation[] {
  const common = Math.min(from.length, to.length);
  const extra = Array.from({ length: from.length - common }, (_, at) => from.length - 1 - at);
  return [
    ...extra.map((at): Operation => ({ op: 'remove', path: step(path, at) })),
    ...from.slice(0, common).flatMap((old, at) => jsonPatchBetween(old, to[at]!, step(path, at))),
    ...to.slice(common).map((value): Operation => ({ op: 'add', path: `${path}/-`, value })),
  ];
}

/** A list whose elements share a key, for which there is no strategic patch. */
export class Ambiguous extends Error {}

/** A strategic merge patch with the directives that `kubectl` sends. Throws Ambiguous. */
export function strategicPatchBetween(
  from: JsonObject,
  to: JsonObject,
  schema: Schema,
): JsonObject {
  const patch: JsonObject = {};
  for (const name of Object.keys(from)) if (!Object.hasOwn(to, name)) patch[name] = null;
  for (const [name, value] of Object.entries(to)) {
    const old = Object.hasOwn(from, name) ? from[name]! : undefined;
    if (old !== undefined && deepEqual(old, value)) continue;
    const field = schema.field(name);
    if (Array.isArray(old) && Array.isArray(value) && field?.merge) {
      Object.assign(patch, listChanges(name, old, value, field));
    } else if (old !== undefined && isJsonObject(old) && isJsonObject(value)) {
      patch[name] = strategicPatchBetween(old, value, field?.shape ?? freeSchema);
    } else patch[name] = value;
  }
  return patch;
}

const freeSchema: Schema = mergeSchemaOf('meta/v1.FieldsV1');

function listChanges(
  name: string,
  from: readonly Json[],
  to: readonly Json[],
  { mergeKey, shape = freeSchema }: NonNullable<ReturnType<Schema['field']>>,
): JsonObject {
  const order = `$setElementOrder/${name}`;
  if (mergeKey === undefined) {
    checkDistinct([...from].map((item) => JSON.stringify(item)));
    checkDistinct([...to].map((item) => JSON.stringify(item)));
    const gone = from.filter((item) => !to.some((other) => deepEqual(item, other)));
    const fresh = to.filter((item) => !from.some((other) => deepEqual(item, other)));
    return {
      [order]: [...to],
      ...(gone.length > 0 && { [`$deleteFromPrimitiveList/${name}`]: gone }),
      ...(fresh.length > 0 && { [name]: fresh }),
    };
  }
  const before = byKey(from, mergeKey);
  const after = byKey(to, mergeKey);
  const changes: Json[] = [];
  for (const [id, item] of after) {
    const old = before.get(id);
    const change = old === undefined ? item : strategicPatchBetween(old, item, shape);
    if (Object.keys(change).length > 0) changes.push({ ...change, [mergeKey]: item[mergeKey]! });
  }
  for (const [id, item] of before) {
    if (!after.has(id)) changes.push({ $patch: 'delete', [mergeKey]: item[mergeKey]! });
  }
  const keys = [...after.values()].map((item) => ({ [mergeKey]: item[mergeKey]! }));
  return { [order]: keys, ...(changes.length > 0 && { [name]: changes }) };
}

function byKey(items: readonly Json[], mergeKey: string): Map<string, JsonObject> {
  const found = new Map<string, JsonObject>();
  for (const item of items) {
    if (!isJsonObject(item) || item[mergeKey] === undefined) throw new Ambiguous();
    const id = JSON.stringify(item[mergeKey]);
    if (found.has(id)) throw new Ambiguous();
    found.set(id, item);
  }
  return found;
}

function checkDistinct(texts: readonly string[]): void {
  if (new Set(texts).size < texts.length) throw new Ambiguous();
}
