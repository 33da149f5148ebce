/** Sets as clients send them: checked, and brought into the one form that all others are kept in. */
import { objectDepthMax } from '../limits.js';
import { isJsonObject } from '../patch/json-values.js';
import { type FieldSet, inSelfOrder, leaf, type MutableSet, self, unionNode } from './field-set.js';
import { canonicalElement, FieldSetError } from './path-element.js';

/**
 * A set from its JSON form, in canonical order; the same object when it was. Steps of unknown kinds are
 * left out. Throws FieldSetError.
 */
export function fieldSetFromJson(json: unknown): FieldSet {
  return withoutSelf(decoded(json, 0));
}

function decoded(json: unknown, depth: number): FieldSet {
  if (!isJsonObject(json)) throw new FieldSetError('a field set is made of objects');
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
  if (isFirst) return result[self] === undefined ? (json as unknown as FieldSet) : leaf;
  const ordered = inSelfOrder(result);
  return changed || ordered !== result ? ordered : (json as unknown as FieldSet);
}

/** A root is in no set. */
function withoutSelf(set: FieldSet): FieldSet {
  if (set[self] === undefined) return set;
  const { [self]: _, ...children } = set;
  return children;
}
