/** JSON merge patch (RFC 7396): null removes, maps merge, everything else replaces. */
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

/** A new document; the one given is not changed, but the result may share parts with both. */
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
