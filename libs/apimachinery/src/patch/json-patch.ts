/**
 * JSON patch (RFC 6902) with the behaviour of the interface: `replace`, `move` and `copy` treat an
 * absent key of a map as null, `test` for null succeeds on an absent key, negative indexes count
 * from the end of a list, and the first part of a path is dropped. The document is never changed.
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

/** An operation cannot be applied; the message says which and why, in the interface's wording. */
export class JsonPatchError extends Error {
  override readonly name = 'JsonPatchError';
}

/**
 * Throws StatusError: BadRequest for an invalid patch, Invalid for a patch that does not apply,
 * whatever the operation.
 */
export function applyJsonPatch(document: Json, patch: Json): Json {
  try {
    return applyJsonPatchOperations(document, patch);
  } catch (error) {
    throw error instanceof JsonPatchError ? unprocessable() : error;
  }
}

/** As `applyJsonPatch`, but throws JsonPatchError for a patch that does not apply. */
export function applyJsonPatchOperations(document: Json, patch: Json): Json {
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
    if (!isJsonObject(operation)) throw new JsonPatchError('an operation is not an object');
    applyOperation(root, operation, copies);
  }
  // Operations can nest values deeper than any single value.
  checkDepth(root);
  return root.root ?? null;
}

/** Total characters of JSON that the copies of one patch have added. */
interface Copies {
  length: number;
}

/** Repeated copies double the size: without a limit, few operations would exhaust the memory. */
function copyOf(value: Json, copies: Copies): Json {
  checkDepth(value);
  copies.length += JSON.stringify(value).length;
  if (copies.length > jsonPatchCopiedLengthMax) {
    throw new JsonPatchError(`copies of more than ${jsonPatchCopiedLengthMax} characters`);
  }
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

const missing = 'missing value';

function failed(what: string, why: string): JsonPatchError {
  return new JsonPatchError(`${what}: ${why}`);
}

/** Runs `work`; a failure names the operation. */
function within<T>(what: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw error instanceof JsonPatchError ? failed(what, error.message) : error;
  }
}

function applyOperation(root: JsonObject, operation: JsonObject, copies: Copies): void {
  const { op, path } = operation;
  const value = operation.value ?? null;
  if (op === 'move' || op === 'copy') {
    transfer(root, operation, copies);
    return;
  }
  const isKnown = op === 'add' || op === 'remove' || op === 'replace' || op === 'test';
  if (!isKnown) throw new JsonPatchError(`Unexpected kind: ${textOf(op ?? 'unknown')}`);
  const target = locate(root, path);
  if (!target) throw failed(missingPath(op, textOf(path)), missing);
  switch (op) {
    case 'add':
      within(`error in add for path: '${path}'`, () => add(target, deepCopy(value)));
      return;
    case 'remove':
      within(`error in remove for path: '${path}'`, () => remove(target));
      return;
    case 'replace':
      within(`replace operation does not apply: doc is missing key: ${path}`, () => read(target));
      replace(target, deepCopy(value));
      return;
    default:
      if (
        deepEqual(
          within(`error in test for path: '${path}'`, () => read(target)),
          value,
        )
      )
        return;
      throw failed(`testing value ${path} failed`, 'test failed');
  }
}

function missingPath(op: string, path: string): string {
  switch (op) {
    case 'test':
      return `test operation for path does not apply: doc is missing path: ${path}`;
    case 'replace':
      return `replace operation does not apply: doc is missing path: ${path}`;
    default:
      return `${op} operation does not apply: doc is missing path: "${path}"`;
  }
}

/** `move` and `copy`. */
function transfer(root: JsonObject, operation: JsonObject, copies: Copies): void {
  const { op, path, from } = operation;
  const source = locate(root, from);
  if (!source) {
    throw failed(
      `${op} operation does not apply: doc is missing from path: ${textOf(from)}`,
      missing,
    );
  }
  const subject = op === 'move' ? 'path' : 'from';
  const value = within(`error in ${op} for ${subject}: '${source.key}'`, () => read(source));
  if (op === 'move') within(`error in move for path: '${source.key}'`, () => remove(source));
  const target = locate(root, path);
  if (!target) {
    throw failed(
      `${op} operation does not apply: doc is missing destination path: ${textOf(path)}`,
      missing,
    );
  }
  const what =
    op === 'move' ? `error in move for path: '${path}'` : 'error while adding value during copy';
  within(what, () => add(target, op === 'move' ? value : copyOf(value, copies)));
}

function textOf(value: Json | undefined): string {
  return typeof value === 'string' ? value : JSON.stringify(value ?? null);
}

interface Location {
  readonly container: Container;
  readonly key: string;
}

/** Finds the container of the last path segment; undefined if there is none. */
function locate(root: JsonObject, pointer: Json | undefined): Location | undefined {
  if (typeof pointer !== 'string') return undefined;
  if (pointer === '') return { container: root, key: 'root' };
  const parts = pointer.split('/').slice(1).map(unescapePart);
  const key = parts.pop();
  if (key === undefined) return undefined;
  let container: Json | undefined = root.root;
  for (const part of parts) container = step(container, part);
  return isContainer(container) ? { container, key } : undefined;
}

function unescapePart(part: string): string {
  return part.replaceAll('~1', '/').replaceAll('~0', '~');
}

function isContainer(value: Json | undefined): value is Container {
  return typeof value === 'object' && value !== null;
}

function step(container: Json | undefined, part: string): Json | undefined {
  if (!isContainer(container)) return undefined;
  if (!Array.isArray(container)) return read({ container, key: part });
  const position = positionIn(container, part);
  return position === undefined ? undefined : container[position];
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
  if (position < 0 || position > container.length) throw invalidIndex(index);
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
    if (!hasKey(container, key)) {
      throw failed(`Unable to remove nonexistent key: ${key}`, missing);
    }
    delete container[key];
  }
}

const indexForm = /^-?\d{1,9}$/;

function parseIndex(key: string): number {
  if (!indexForm.test(key)) {
    throw failed(
      `value was not a proper array index: '${key}'`,
      `strconv.Atoi: parsing ${JSON.stringify(key)}: invalid syntax`,
    );
  }
  return Number(key);
}

function invalidIndex(index: number): JsonPatchError {
  return failed(`Unable to access invalid index: ${index}`, 'invalid index referenced');
}

function existingIndex(list: readonly Json[], key: string): number {
  const index = parseIndex(key);
  const position = index < 0 ? index + list.length : index;
  if (position < 0 || position >= list.length) throw invalidIndex(index);
  return position;
}

/** Undefined: no such element. */
function positionIn(list: readonly Json[], key: string): number | undefined {
  if (!indexForm.test(key)) return undefined;
  const index = Number(key);
  const position = index < 0 ? index + list.length : index;
  return position < 0 || position >= list.length ? undefined : position;
}
