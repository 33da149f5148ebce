/** Parses the field sets that clients send: validates them and converts them to canonical form. */
import { objectDepthMax } from '../limits.js';
import { isJsonObject } from '../patch/json-values.js';
import { type FieldSet, inSelfOrder, leaf, type MutableSet, self, unionNode } from './field-set.js';
import { canonicalElement, FieldSetError } from './path-element.js';

/**
 * Parses a set from its JSON form into canonical order; returns the same object if it is already
 * canonical. Skips steps of unknown kinds. Throws FieldSetError.
 */
export function fieldSetFromJson(json: unknown): FieldSet {
  return withoutSelf(decoded(json, 0));
}

function decoded(json: unknown, depth: number): FieldSet {
  if (!isJsonObject(json)) throw new FieldSetError('a field set must consist of objects');
  // Returned only if the loop finds each member to be a canonical set.
  const same = json as FieldSet;
  if (depth > objectDepthMax) {
    throw new FieldSetError(`nested deeper than ${objectDepthMax} levels`);
  }
  let changed = false;
  let isFirst = true;
  const result: MutableSet = {};
  for (const key in json) {
    if (key === self) {
      result[self] = leaf;
      if (!isFirst) changed = true;
      continue;
    }
    isFirst = false;
    const element = canonicalElement(key);
    if (element !== key) changed = true;
    if (element === undefined) continue;
    const child = decoded(json[key], depth + 1);
    if (child !== json[key]) changed = true;
    const twin = result[element];
    result[element] = twin === undefined ? child : unionNode(twin, child);
  }
  if (isFirst) return result[self] === undefined ? same : leaf;
  const ordered = inSelfOrder(result);
  return changed || ordered !== result ? ordered : same;
}

/** Removes the mark of the root, which is never a member. */
function withoutSelf(set: FieldSet): FieldSet {
  if (set[self] === undefined) return set;
  const { [self]: _, ...children } = set;
  return children;
}
