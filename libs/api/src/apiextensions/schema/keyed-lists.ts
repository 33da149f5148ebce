/** Elements of sets and of lists keyed by fields must be told apart. */
import { type FieldError, type FieldPath, fieldError, isJsonObject } from '@orch/apimachinery';
import { canonicalText } from './canonical-text.js';
import { addErrors } from './field-errors.js';
import { memberOf, type Structural } from './structural.js';
import { shown } from './value-text.js';

export function keyedListErrors(
  value: unknown,
  structural: Structural | undefined,
  at: FieldPath,
): FieldError[] {
  if (!structural?.hasKeyedLists) return [];
  const errors: FieldError[] = [];
  if (Array.isArray(value)) {
    addErrors(errors, listErrors(value, structural, at));
    for (const [index, element] of value.entries()) {
      addErrors(errors, keyedListErrors(element, structural.items, at.index(index)));
    }
  } else if (isJsonObject(value)) {
    for (const name of Object.keys(value)) {
      const field = structural.properties.has(name) ? at.child(name) : at.key(name);
      addErrors(errors, keyedListErrors(value[name], memberOf(structural, name), field));
    }
  }
  return errors;
}

function listErrors(list: readonly unknown[], { extensions }: Structural, at: FieldPath) {
  if (extensions.listType === 'set') return duplicates(list, at);
  if (extensions.listType !== 'map') return [];
  const stray = list.findIndex((element) => element !== null && !isJsonObject(element));
  if (stray >= 0) {
    const message = 'must be an object for an array of list-type map';
    return [fieldError.invalid(at.index(stray), shown(list[stray]), message)];
  }
  const { listMapKeys = [] } = extensions;
  const keys = list.map((element) => {
    if (!isJsonObject(element)) return {};
    const present = listMapKeys.filter((name) => Object.hasOwn(element, name));
    return Object.fromEntries(present.map((name) => [name, element[name]]));
  });
  return duplicates(keys, at);
}

/** Each value that occurs again is named once, where it first does. */
function duplicates(list: readonly unknown[], at: FieldPath): FieldError[] {
  const counts = new Map<string, number>();
  return list.flatMap((element, index) => {
    const text = canonicalText(element);
    const count = (counts.get(text) ?? 0) + 1;
    counts.set(text, count);
    return count === 2 ? [fieldError.duplicate(at.index(index), shown(element))] : [];
  });
}
