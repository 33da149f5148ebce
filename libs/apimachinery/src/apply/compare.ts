/**
 * Computes the differences between two objects of one type, as field sets. Runs on every write, so
 * equal values are skipped without a shape lookup.
 */
import { deepEqual, type Json, type JsonObject, membersOf } from '../patch/json-values.js';
import {
  type FieldSet,
  isEmptySet,
  leaf,
  noFields,
  recursiveDifference,
  union,
} from './field-set.js';
import { NodeBuilder } from './node-builder.js';
import { fieldElement, type PathElement } from './path-element.js';
import type { ListShape, MapShape, Member, Shape } from './shape.js';
import { isEmptyValue, itemElements, itemsOf, memberOf, plainShape, TypedError } from './typed.js';

export interface Changes {
  readonly added: FieldSet;
  readonly modified: FieldSet;
  readonly removed: FieldSet;
}

type Kind = keyof Changes;

/** Changes below a node; a kind without changes is undefined. */
type Below = { [kind in Kind]?: FieldSet };

const kinds: readonly Kind[] = ['added', 'modified', 'removed'];
const modified: Below = { modified: leaf };
const unchanged: Changes = { added: noFields, modified: noFields, removed: noFields };

/** Throws TypedError for lists whose elements have no unique keys. */
export function compareObjects(shape: Shape, before: Json, after: Json): Changes {
  const below = compare(shape, before, after);
  return below ? { ...unchanged, ...below } : unchanged;
}

export function isUnchanged(changes: Changes): boolean {
  return changes === unchanged || kinds.every((kind) => isEmptySet(changes[kind]));
}

export function withoutFields(changes: Changes, ignored: FieldSet | undefined): Changes {
  if (ignored === undefined || changes === unchanged) return changes;
  return {
    added: recursiveDifference(changes.added, ignored),
    modified: recursiveDifference(changes.modified, ignored),
    removed: recursiveDifference(changes.removed, ignored),
  };
}

function compare(shape: Shape, before: Json, after: Json): Below | undefined {
  if (before === after) return undefined;
  const plain = plainShape(shape, after);
  const other = plainShape(shape, before);
  if (before !== null && after !== null && plain !== other) return replaced(shape, before, after);
  const by = after === null ? other : plain;
  if (by.kind === 'scalar') return deepEqual(before, after) ? undefined : modified;
  const isWhole = by.kind === 'list' ? by.type === 'atomic' : by.isAtomic;
  if (isWhole || (isEmptyValue(before) && isEmptyValue(after))) {
    return deepEqual(before, after) ? undefined : modified;
  }
  return by.kind === 'list' ? compareLists(by, before, after) : compareMaps(by, before, after);
}

/** The value changed its kind, in a place where any kind is allowed. */
function replaced(shape: Shape, before: Json, after: Json): Below {
  const added = childrenOfWhole(shape, after);
  const removed = childrenOfWhole(shape, before);
  return { modified: leaf, ...(added && { added }), ...(removed && { removed }) };
}

function childrenOfWhole(shape: Shape, value: Json): FieldSet | undefined {
  const plain = plainShape(shape, value);
  return plain.kind === 'map' && !isEmptyValue(value)
    ? mapChildren(plain, value).finish(false)
    : undefined;
}

class Collected {
  private below: { [kind in Kind]?: NodeBuilder } | undefined;

  constructor(private readonly isPlain: boolean) {}

  set(kind: Kind, element: PathElement, node: FieldSet): void {
    this.below ??= {};
    let children = this.below[kind];
    if (!children) {
      children = new NodeBuilder(this.isPlain);
      this.below[kind] = children;
    }
    children.add(element, node);
  }

  add(element: PathElement, below: Below | undefined): void {
    if (!below) return;
    for (const kind of kinds) {
      const node = below[kind];
      if (node !== undefined) this.set(kind, element, node);
    }
  }

  finish(): Below | undefined {
    const { below } = this;
    if (!below) return undefined;
    const result: Below = {};
    for (const kind of kinds) {
      const node = below[kind]?.finish(false);
      if (node !== undefined) result[kind] = node;
    }
    return result;
  }
}

function compareMaps(shape: MapShape, before: Json, after: Json): Below | undefined {
  const old = membersOf(before);
  const members = membersOf(after);
  const { fields } = shape;
  const collected = new Collected(shape.others === undefined);
  for (const name in members) {
    const value = members[name];
    if (value === undefined || value === old[name]) continue;
    const { element, shape: inner, absent } = fields.get(name) ?? otherMember(shape, name);
    const held = memberOf(old, name);
    const was = held === undefined ? absent : held;
    if (was === undefined) collected.set('added', element, wholeNode(element, inner, value));
    else collected.add(element, compareWithin(element, inner, was, value));
  }
  for (const name in old) {
    const was = old[name];
    if (was === undefined || members[name] === was) continue;
    if (memberOf(members, name) !== undefined) continue;
    const { element, shape: inner, absent } = fields.get(name) ?? otherMember(shape, name);
    if (absent === undefined) collected.set('removed', element, wholeNode(element, inner, was));
    else collected.add(element, compareWithin(element, inner, was, absent));
  }
  return collected.finish();
}

function compareLists(shape: ListShape, before: Json, after: Json): Below | undefined {
  const old = itemsOf(before);
  const items = itemsOf(after);
  // Computing the path elements costs more than comparing the whole list.
  if (old.length === items.length && deepEqual(old, items)) return undefined;
  const oldElements = itemElements(shape, old);
  const elements = itemElements(shape, items);
  const collected = new Collected(false);
  const oldPlaces = placesOf(oldElements);
  for (let index = 0; index < items.length; index += 1) {
    const element = elements[index]!;
    // Most elements do not move.
    const at = oldElements[index] === element ? index : oldPlaces(element);
    if (at < 0) collected.set('added', element, wholeNode(element, shape.element, items[index]!));
    else collected.add(element, compareWithin(element, shape.element, old[at]!, items[index]!));
  }
  const places = placesOf(elements);
  for (let index = 0; index < old.length; index += 1) {
    const element = oldElements[index]!;
    if (elements[index] === element || places(element) >= 0) continue;
    collected.set('removed', element, wholeNode(element, shape.element, old[index]!));
  }
  return collected.finish();
}

const searchedMax = 16;

/**
 * Returns a function that gives the index of an element, or -1. Long lists are indexed on first
 * use.
 */
function placesOf(elements: readonly PathElement[]): (element: PathElement) => number {
  if (elements.length <= searchedMax) return (element) => elements.indexOf(element);
  let index: Map<PathElement, number> | undefined;
  return (element) => {
    index ??= new Map(elements.map((known, at) => [known, at]));
    return index.get(element) ?? -1;
  };
}

/** A member that is not among the fields of the shape. */
function otherMember(shape: MapShape, name: string): Member {
  const element = fieldElement(name);
  if (shape.others) return { element, shape: shape.others };
  throw new TypedError(['field not declared in schema']).under(element);
}

function compareWithin(
  element: PathElement,
  shape: Shape,
  before: Json,
  after: Json,
): Below | undefined {
  try {
    return compare(shape, before, after);
  } catch (error) {
    throw error instanceof TypedError ? error.under(element) : error;
  }
}

/** Everything in a value that exists on one side only, including the value itself. */
function wholeNode(element: PathElement, shape: Shape, value: Json): FieldSet {
  if (typeof value !== 'object' || value === null) return leaf;
  const plain = plainShape(shape, value);
  if (plain.kind === 'scalar') return leaf;
  const isWhole = plain.kind === 'list' ? plain.type === 'atomic' : plain.isAtomic;
  const isBare = plain.kind === 'list' || plain.present.length === 0;
  if (isWhole || (isBare && isEmptyValue(value))) return leaf;
  try {
    const children = plain.kind === 'list' ? listChildren(plain, value) : mapChildren(plain, value);
    return children.finish(true) ?? leaf;
  } catch (error) {
    throw error instanceof TypedError ? error.under(element) : error;
  }
}

function mapChildren(shape: MapShape, value: Json): NodeBuilder {
  const members = value as JsonObject;
  const { fields } = shape;
  const children = new NodeBuilder(shape.others === undefined);
  for (const name in members) {
    const member = members[name];
    if (member === undefined) continue;
    const { element, shape: inner } = fields.get(name) ?? otherMember(shape, name);
    // Most members are scalars.
    const node = typeof member === 'object' ? wholeNode(element, inner, member) : leaf;
    children.add(element, node);
  }
  for (const [name, { element, shape: inner, absent }] of shape.present) {
    if (members[name] === undefined) children.add(element, wholeNode(element, inner, absent!));
  }
  return children;
}

function listChildren(shape: ListShape, value: Json): NodeBuilder {
  const items = itemsOf(value);
  const elements = itemElements(shape, items);
  const children = new NodeBuilder(false);
  for (let index = 0; index < items.length; index += 1) {
    const element = elements[index]!;
    children.add(element, wholeNode(element, shape.element, items[index]!));
  }
  return children;
}

/** The fields that the writer of these changes takes over from other managers. */
export function written(changes: Changes): FieldSet {
  return union(changes.modified, changes.added);
}
