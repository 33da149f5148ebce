/** JSON merge patch (RFC 7396): null deletes, maps merge, all other values replace. */
import { patchDepthMax } from '../limits.js';
import { badRequest } from '../status/errors.js';
import {
  hasKey,
  isDeeperThan,
  isJsonObject,
  type Json,
  type JsonObject,
  setKey,
} from './json-values.js';

/**
 * Returns a new document, which may share structure with both inputs; the inputs are not changed.
 */
export function applyMergePatch(document: Json, patch: Json): Json {
  if (isDeeperThan(patch, patchDepthMax)) {
    throw badRequest(`patch is nested deeper than ${patchDepthMax} levels`);
  }
  return merge(document, patch);
}

function merge(document: Json, patch: Json): Json {
  if (!isJsonObject(patch)) return patch;
  const merged: JsonObject = isJsonObject(document) ? { ...document } : {};
  for (const key of Object.keys(patch)) {
    const value = patch[key] ?? null;
    if (value === null) delete merged[key];
    else {
      const current = hasKey(merged, key) ? (merged[key] ?? null) : null;
      setKey(merged, key, merge(current, value));
    }
  }
  return merged;
}
