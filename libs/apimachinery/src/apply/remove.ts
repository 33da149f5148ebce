/** Takes fields out of an object, and prepares sets for it. */
import { type Json, type JsonObject, setKey } from '../patch/json-values.js';
import { type FieldSet, inOrder, isMember, leaf, type MutableSet, nodeOf } from './field-set.js';
import { fieldElement, type PathElement } from './path-element.js';
import { type ListShape, type MapShape, memberShape, type Shape } from './shape.js';
import { isEmptyValue, itemElements, itemsOf, membersOf, plainShape } from './typed.js';

/**
 * The object without the paths of the set; lists and objects that become empty become null. The object
 * is not changed; the result shares parts of it. Throws TypedError.
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
 * The set with every named field that has paths below it: who owns something in an optional struct owns
 * the struct for as long.
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
    changed[element] = isNamed ? (nodeOf(true, inner as MutableSet) ?? leaf) : inner;
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
 * The set as the type has it now: of what has become one whole since, the whole is owned by whoever owned
 * a part. The same set when nothing has.
 */
export function reconciled(set: FieldSet, shape: Shape | undefined): FieldSet {
  if (shape === undefined || shape.kind === 'any' || shape.kind === 'scalar') return set;
  let changed: MutableSet | undefined;
  for (const element in set) {
    if (element === '.') continue;
    const node = set[element]!;
    // Most steps end here.
    if (!hasBelow(node)) continue;
    const inner = shapeBelow(shape, element).shape;
    const kept = isWhole(inner) ? leaf : reconciled(node, inner);
    if (kept === node) continue;
    changed ??= { ...set };
    changed[element] = kept;
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
