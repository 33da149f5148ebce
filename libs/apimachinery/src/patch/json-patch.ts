/**
 * JSON patch (RFC 6902) as this interface applies it: `replace`, `move` and `copy` of a map's key that is
 * absent act on null, `test` for null holds on an absent key, negative indexes count from a list's end,
 * and the first part of a path is dropped whatever it is. Whatever cannot be applied is one and the same
 * refusal; the document that was given is never changed.
 */
import { jsonPatchCopiedLengthMax, jsonPatchOperationCountMax, patchDepthMax } from '../limits.js';
import { badRequest, requestEntityTooLarge, unprocessable } from '../status/errors.js';
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

type Container = Json[] | JsonObject;

/** Throws StatusError: bad request for what is no patch, invalid for what does not apply. */
export function applyJsonPatch(document: Json, patch: Json): Json {
  if (!Array.isArray(patch)) {
    throw badRequest(
      `json: cannot unmarshal ${jsonKind(patch)} into Go value of type jsonpatch.Patch`,
    );
  }
  if (patch.length > jsonPatchOperationCountMax) {
    throw requestEntityTooLarge(
      `The allowed maximum operations in a JSON patch is ${jsonPatchOperationCountMax}, got ${patch.length}`,
    );
  }
  checkDepth(patch);
  const root: JsonObject = { root: deepCopy(document) };
  const copies: Copies = { length: 0 };
  for (const operation of patch) {
    if (!isJsonObject(operation)) throw unprocessable();
    applyOperation(root, operation, copies);
  }
  // Operations below each other's values go deeper than any of them.
  checkDepth(root);
  return root.root ?? null;
}

/** What the copies of one patch have added up to, as characters of JSON. */
interface Copies {
  length: number;
}

/** A copy of a copy doubles it: few operations would fill any memory. */
function copyOf(value: Json, copies: Copies): Json {
  checkDepth(value);
  copies.length += JSON.stringify(value).length;
  if (copies.length > jsonPatchCopiedLengthMax) throw unprocessable();
  return deepCopy(value);
}

function checkDepth(value: Json): void {
  if (isDeeperThan(value, patchDepthMax)) {
    throw badRequest(`patch is nested deeper than ${patchDepthMax} levels`);
  }
}

function jsonKind(value: Json): string {
  if (isJsonObject(value)) return 'object';
  return typeof value === 'boolean' ? 'bool' : typeof value;
}

function applyOperation(root: JsonObject, operation: JsonObject, copies: Copies): void {
  const target = locate(root, operation.path);
  const value = operation.value ?? null;
  switch (operation.op) {
    case 'add':
      add(target, deepCopy(value));
      return;
    case 'remove':
      remove(target);
      return;
    case 'replace':
      read(target);
      replace(target, deepCopy(value));
      return;
    case 'move': {
      const source = locate(root, operation.from);
      const moved = read(source);
      remove(source);
      add(locate(root, operation.path), moved);
      return;
    }
    case 'copy':
      add(target, copyOf(read(locate(root, operation.from)), copies));
      return;
    case 'test':
      if (!deepEqual(read(target), value)) throw unprocessable();
      return;
    default:
      throw unprocessable();
  }
}

interface Location {
  readonly container: Container;
  readonly key: string;
}

/** The container that holds the last part of the path. */
function locate(root: JsonObject, pointer: Json | undefined): Location {
  if (typeof pointer !== 'string') throw unprocessable();
  if (pointer === '') return { container: root, key: 'root' };
  const parts = pointer.split('/').slice(1).map(unescapePart);
  const key = parts.pop();
  if (key === undefined) throw unprocessable();
  let container: Json | undefined = root.root;
  for (const part of parts) container = step(container, part);
  if (!isContainer(container)) throw unprocessable();
  return { container, key };
}

function unescapePart(part: string): string {
  return part.replaceAll('~1', '/').replaceAll('~0', '~');
}

function isContainer(value: Json | undefined): value is Container {
  return typeof value === 'object' && value !== null;
}

function step(container: Json | undefined, part: string): Json | undefined {
  if (!isContainer(container)) throw unprocessable();
  return read({ container, key: part });
}

function read({ container, key }: Location): Json {
  if (Array.isArray(container)) return container[existingIndex(container, key)] ?? null;
  return hasKey(container, key) ? (container[key] ?? null) : null;
}

function add({ container, key }: Location, value: Json): void {
  if (!Array.isArray(container)) {
    setKey(container, key, value);
    return;
  }
  const index = key === '-' ? container.length : parseIndex(key);
  const position = index < 0 ? index + container.length : index;
  if (position < 0 || position > container.length) throw unprocessable();
  container.splice(position, 0, value);
}

function replace({ container, key }: Location, value: Json): void {
  if (Array.isArray(container)) container[existingIndex(container, key)] = value;
  else setKey(container, key, value);
}

function remove({ container, key }: Location): void {
  if (Array.isArray(container)) {
    container.splice(existingIndex(container, key), 1);
  } else {
    if (!hasKey(container, key)) throw unprocessable();
    delete container[key];
  }
}

function parseIndex(key: string): number {
  if (!/^-?\d{1,9}$/.test(key)) throw unprocessable();
  return Number(key);
}

function existingIndex(list: readonly Json[], key: string): number {
  const index = parseIndex(key);
  const position = index < 0 ? index + list.length : index;
  if (position < 0 || position >= list.length) throw unprocessable();
  return position;
}
