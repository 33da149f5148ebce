/**
 * Sets of paths into an object. A set is the plain data of its FieldsV1 form, so that reading and
 * writing it costs nothing: a key is a step, its value the set below that step, `{}` is a member
 * without children, and `.` marks a member that also has children. Only the root may be an empty
 * node without being a member. Invariants: keys are canonical and ordered, no node below the root
 * is empty without being a member, and sets are immutable: operations share structure and return
 * the same set if nothing changes.
 */
import { compareElements, type PathElement, sortedElements } from './path-element.js';

export interface FieldSet {
  readonly [element: PathElement]: FieldSet;
}
export interface MutableSet {
  [element: PathElement]: FieldSet;
}

/** A member with no children; as a root, the empty set. */
export const leaf: FieldSet = Object.freeze({});
export const noFields: FieldSet = leaf;

/** Marks a node that is a member and has children. */
export const self = '.';

export function isEmptySet(set: FieldSet): boolean {
  for (const _ in set) return false;
  return true;
}

/** Reports whether the step that leads to this node is a member. */
export function isMember(node: FieldSet): boolean {
  return node[self] !== undefined || isEmptySet(node);
}

/**
 * Builds a node with these children; `member` says whether it is a member itself. Undefined if it
 * is neither a member nor has children.
 */
export function nodeOf(member: boolean, children: FieldSet): FieldSet | undefined {
  if (isEmptySet(children)) return member ? leaf : undefined;
  return member ? { [self]: leaf, ...children } : children;
}

/** The node in canonical order. */
export function inOrder(node: MutableSet): MutableSet {
  let previous: PathElement | undefined;
  for (const key in node) {
    if (key === self) continue;
    if (previous !== undefined && compareElements(previous, key) > 0) return sorted(node);
    previous = key;
  }
  return node;
}

/** A copy in canonical order, with the member mark first. */
export function sorted(node: MutableSet): MutableSet {
  const result: MutableSet = {};
  const keys = Object.keys(node).filter((key) => key !== self);
  if (node[self] !== undefined) result[self] = leaf;
  for (const key of sortedElements(keys)) result[key] = node[key]!;
  return result;
}

export function union(a: FieldSet, b: FieldSet): FieldSet {
  if (a === b || isEmptySet(b)) return a;
  return isEmptySet(a) ? b : unionChildren(a, b, false);
}

export function unionNode(a: FieldSet, b: FieldSet): FieldSet {
  if (a === b) return a;
  const aIsMember = isMember(a);
  return unionChildren(a, b, aIsMember || isMember(b), aIsMember);
}

function unionChildren(
  a: FieldSet,
  b: FieldSet,
  member: boolean,
  wasMember: boolean = member,
): FieldSet {
  let changed: MutableSet | undefined;
  for (const key in b) {
    if (key === self) continue;
    const own = a[key];
    const joined = own === undefined ? b[key]! : unionNode(own, b[key]!);
    if (joined === own) continue;
    changed ??= { ...a };
    changed[key] = joined;
  }
  if (!changed) {
    if (member === wasMember) return a;
    return isEmptySet(a) ? leaf : { [self]: leaf, ...a };
  }
  if (member) changed[self] = leaf;
  return member && !wasMember ? sorted(changed) : inSelfOrder(changed);
}

/** Restores canonical order if the member mark was added last. */
export function inSelfOrder(node: MutableSet): MutableSet {
  const [first] = Object.keys(node);
  return node[self] !== undefined && first !== self ? sorted(node) : inOrder(node);
}

/** The members of `a` that are not in `b`. Members below a path of `b` stay. */
export function difference(a: FieldSet, b: FieldSet): FieldSet {
  if (isEmptySet(b)) return a;
  return differenceNode(a, b, false, false) ?? noFields;
}

function differenceNode(
  a: FieldSet,
  b: FieldSet,
  wasMember: boolean,
  member: boolean,
): FieldSet | undefined {
  let replaced: Replaced | undefined;
  for (const key in b) {
    const own = a[key];
    if (own === undefined || key === self) continue;
    const ownIsMember = isMember(own);
    const left = differenceNode(own, b[key]!, ownIsMember, ownIsMember && !isMember(b[key]!));
    if (left === own) continue;
    replaced ??= new Map();
    replaced.set(key, left);
  }
  return replaced || member !== wasMember ? rebuilt(a, member, replaced) : a;
}

/** Like `difference`, but also removes members below a path of `b`. */
export function recursiveDifference(a: FieldSet, b: FieldSet): FieldSet {
  return recursiveDifferenceNode(a, b, false) ?? noFields;
}

function recursiveDifferenceNode(a: FieldSet, b: FieldSet, member: boolean): FieldSet | undefined {
  let replaced: Replaced | undefined;
  for (const key in b) {
    const own = a[key];
    if (own === undefined || key === self) continue;
    const removed = b[key]!;
    const left = isMember(removed)
      ? undefined
      : recursiveDifferenceNode(own, removed, isMember(own));
    if (left === own) continue;
    replaced ??= new Map();
    replaced.set(key, left);
  }
  return replaced ? rebuilt(a, member, replaced) : a;
}

/** Children of a node to replace; undefined removes the child. */
type Replaced = Map<PathElement, FieldSet | undefined>;

/** Copies a node member by member: deleting members from an object makes it slow. */
function rebuilt(node: FieldSet, member: boolean, replaced?: Replaced): FieldSet | undefined {
  const result: MutableSet = member ? { [self]: leaf } : {};
  let isBare = true;
  for (const key in node) {
    if (key === self) continue;
    const child = replaced?.has(key) ? replaced.get(key) : node[key];
    if (child === undefined) continue;
    result[key] = child;
    isBare = false;
  }
  if (!isBare) return result;
  return member ? leaf : undefined;
}

export function intersection(a: FieldSet, b: FieldSet): FieldSet {
  if (a === b) return a;
  const result: MutableSet = {};
  for (const key in a) {
    const other = b[key];
    if (other === undefined || key === self) continue;
    const own = a[key]!;
    const shared = nodeOf(isMember(own) && isMember(other), intersection(own, other));
    if (shared !== undefined) result[key] = shared;
  }
  return result;
}

export function equalSets(a: FieldSet, b: FieldSet): boolean {
  if (a === b) return true;
  let keyCount = 0;
  for (const key in a) {
    const other = b[key];
    if (other === undefined || !equalSets(a[key]!, other)) return false;
    keyCount += 1;
  }
  for (const _ in b) keyCount -= 1;
  return keyCount === 0;
}

export function hasPath(set: FieldSet, path: readonly PathElement[]): boolean {
  let node: FieldSet | undefined = set;
  for (const element of path) {
    node = node[element];
    if (node === undefined) return false;
  }
  return path.length > 0 && isMember(node);
}

/** Yields every path of the set; a member precedes its children. */
export function* pathsOf(
  set: FieldSet,
  prefix: readonly PathElement[] = [],
): Generator<PathElement[]> {
  for (const key in set) {
    if (key !== self && isMember(set[key]!)) yield [...prefix, key];
  }
  for (const key in set) {
    if (key !== self) yield* pathsOf(set[key]!, [...prefix, key]);
  }
}

/** The paths that are not a prefix of another path in the set. */
export function leavesOf(set: FieldSet): FieldSet {
  const result: MutableSet = {};
  for (const key in set) {
    if (key !== self) result[key] = isEmptySet(set[key]!) ? leaf : leavesOf(set[key]!);
  }
  return result;
}

/** Builds a set from dotted field names, such as `metadata.labels`. */
export function fieldSetOf(...paths: readonly string[]): FieldSet {
  return paths.reduce<FieldSet>((set, path) => {
    const node = path
      .split('.')
      .reduceRight<FieldSet>((below, name) => ({ [`f:${name}`]: below }), leaf);
    return union(set, node);
  }, noFields);
}
