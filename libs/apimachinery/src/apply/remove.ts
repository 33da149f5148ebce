/** Removes fields from an object, and prepares the sets for it. */
import { type Json, type JsonObject, membersOf, setKey } from '../patch/json-values.js';
import { type FieldSet, inOrder, isMember, leaf, type MutableSet, nodeOf } from './field-set.js';
import { fieldElement, type PathElement } from './path-element.js';
import { type ListShape, type MapShape, memberShape, type Shape } from './shape.js';
import { isEmptyValue, itemElements, itemsOf, plainShape } from './typed.js';

/**
 * Returns the object without the paths of the set; lists and objects that become empty become null.
 * The object is not changed; the result shares structure with it. Throws TypedError.
 */
export function withoutItems(shape: Shape, value: Json, removed: FieldSet): Json {
  const plain = plainShape(shape, value);
  if (plain.kind === 'scalar' || isEmptyValue(value)) return value;
  if (plain.kind === 'list') {
    return plain.type === 'atomic' ? value : listWithout(plain, value, removed);
  }
  return plain.isAtomic ? value : mapWithout(plain, value, removed);
}

function listWithout(shape: ListShape, value: Json, removed: FieldSet): Json {
  const items = itemsOf(value);
  const result: Json[] = [];
  itemElements(shape, items).forEach((element, index) => {
    const node = removed[element];
    if (node === undefined) result.push(items[index]!);
    else if (!isMember(node)) result.push(withoutItems(shape.element, items[index]!, node));
  });
  return result.length > 0 ? result : null;
}

function mapWithout(shape: MapShape, value: Json, removed: FieldSet): Json {
  const members = membersOf(value);
  const result: JsonObject = {};
  let isEmpty = true;
  for (const name in members) {
    const member = members[name];
    const node = removed[fieldElement(name)];
    if (member === undefined || (node !== undefined && isMember(node))) continue;
    const inner = memberShape(shape, name);
    setKey(result, name, node && inner ? withoutItems(inner, member, node) : member);
    isEmpty = false;
  }
  return isEmpty ? null : result;
}

/**
 * Adds every named field that has paths below it: the owner of a field in an optional struct also
 * owns the struct.
 */
export function withNamedFields(set: FieldSet, shape: Shape | undefined): FieldSet {
  let changed: MutableSet | undefined;
  for (const element in set) {
    if (element === '.') continue;
    const node = set[element]!;
    const below = shapeBelow(shape, element);
    const inner = withNamedFields(node, below.shape);
    const isNamed = below.isNamed && !isMember(node);
    if (inner === node && !isNamed) continue;
    changed ??= { ...set };
    changed[element] = isNamed ? (nodeOf(true, inner) ?? leaf) : inner;
  }
  return changed ?? set;
}

function shapeBelow(
  shape: Shape | undefined,
  element: PathElement,
): { shape: Shape | undefined; isNamed: boolean } {
  if (shape?.kind === 'any') return { shape, isNamed: false };
  if (shape?.kind === 'map' && element[0] === 'f') {
    const name = element.slice(2);
    return { shape: memberShape(shape, name), isNamed: shape.fields.has(name) };
  }
  if (shape?.kind === 'list' && element[0] === 'k') return { shape: shape.element, isNamed: false };
  return { shape: undefined, isNamed: false };
}

/**
 * Adapts the set to the current type: if a type has become atomic, the owner of any part owns the
 * whole. Returns the same set if nothing changes.
 */
export function reconciled(set: FieldSet, shape: Shape | undefined): FieldSet {
  if (shape === undefined || shape.kind === 'any' || shape.kind === 'scalar') return set;
  let changed: MutableSet | undefined;
  for (const element in set) {
    if (element === '.') continue;
    const node = set[element]!;
    // Most steps are leaves.
    if (!hasBelow(node)) continue;
    const inner = shapeBelow(shape, element).shape;
    const remaining = isWhole(inner) ? leaf : reconciled(node, inner);
    if (remaining === node) continue;
    changed ??= { ...set };
    changed[element] = remaining;
  }
  return changed ? inOrder(changed) : set;
}

function isWhole(shape: Shape | undefined): boolean {
  if (shape?.kind === 'list') return shape.type === 'atomic';
  return shape?.kind === 'map' && shape.isAtomic;
}

function hasBelow(node: FieldSet): boolean {
  for (const element in node) if (element !== '.') return true;
  return false;
}
