/** Rejects duplicate elements of sets and keyed lists. */
import {
  type FieldError,
  type FieldPath,
  fieldError,
  isJsonObject,
  type JsonObject,
} from '@orch/apimachinery';
import { canonicalText } from '../common/canonical-text.js';
import { addErrors } from '../common/field-errors.js';
import { reportedValue } from '../common/value-text.js';
import { memberOf, type Structural } from './structural.js';

export function keyedListErrors(
  value: unknown,
  structural: Structural | undefined,
  fieldPath: FieldPath,
): FieldError[] {
  const errors: FieldError[] = [];
  if (structural) collect(value, structural, () => fieldPath, errors);
  return errors;
}

/** Paths are only built for errors. */
type PathBuilder = () => FieldPath;

function collect(
  value: unknown,
  structural: Structural,
  at: PathBuilder,
  errors: FieldError[],
): void {
  if (!structural.hasKeyedLists) return;
  if (Array.isArray(value)) {
    addErrors(errors, listErrors(value, structural, at));
    const { items } = structural;
    if (!items?.hasKeyedLists) return;
    for (const [index, element] of value.entries()) {
      collect(element, items, () => at().index(index), errors);
    }
  } else if (isJsonObject(value)) {
    for (const name of Object.keys(value)) {
      const member = memberOf(structural, name);
      if (!member?.hasKeyedLists) continue;
      const isNamed = structural.properties.has(name);
      collect(value[name], member, () => (isNamed ? at().child(name) : at().key(name)), errors);
    }
  }
}

function listErrors(
  list: readonly unknown[],
  { extensions }: Structural,
  at: PathBuilder,
): FieldError[] {
  if (extensions.listType === 'set') {
    return repeated(list.map(canonicalText)).map((index) =>
      fieldError.duplicate(at().index(index), reportedValue(list[index])),
    );
  }
  if (extensions.listType !== 'map') return [];
  const stray = list.findIndex((element) => element !== null && !isJsonObject(element));
  if (stray >= 0) {
    const message = 'must be an object for an array of list-type map';
    return [fieldError.invalid(at().index(stray), reportedValue(list[stray]), message)];
  }
  const elements = list.map((element) => (isJsonObject(element) ? element : {}));
  const { listMapKeys = [] } = extensions;
  return repeated(elements.map((element) => keyText(element, listMapKeys))).map((index) =>
    fieldError.duplicate(at().index(index), reportedValue(keysOf(elements[index]!, listMapKeys))),
  );
}

/** A text that is equal for equal keys; an absent key is a value of its own. */
function keyText(element: JsonObject, keys: readonly string[]): string {
  let text = '';
  for (const name of keys) {
    text += `${Object.hasOwn(element, name) ? canonicalText(element[name]) : ''},`;
  }
  return text;
}

function keysOf(element: JsonObject, keys: readonly string[]): JsonObject {
  const present = keys.filter((name) => Object.hasOwn(element, name));
  return Object.fromEntries(present.map((name) => [name, element[name]!]));
}

/** Indexes of the first occurrence of each duplicate. */
function repeated(texts: readonly string[]): number[] {
  if (new Set(texts).size === texts.length) return [];
  const counts = new Map<string, number>();
  return [...texts.keys()].filter((index) => {
    const count = (counts.get(texts[index]!) ?? 0) + 1;
    counts.set(texts[index]!, count);
    return count === 2;
  });
}
