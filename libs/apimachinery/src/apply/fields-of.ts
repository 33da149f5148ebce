/** Computes all field paths in a value. */
import { type Json, membersOf } from '../patch/json-values.js';
import { type FieldSet, inOrder, leaf, type MutableSet, nodeOf, noFields } from './field-set.js';
import { fieldElement } from './path-element.js';
import { type MapShape, memberShape, type Shape } from './shape.js';
import { isEmptyValue, itemElements, itemsOf, plainShape, TypedError } from './typed.js';

/**
 * A non-empty list or map is represented by its content, an empty one by itself. Throws TypedError.
 */
export function fieldsOf(shape: Shape, value: Json): FieldSet {
  return childrenOf(shape, value) ?? noFields;
}

/** Undefined if the value is one atomic field. */
function childrenOf(shape: Shape, value: Json): MutableSet | undefined {
  const plain = plainShape(shape, value);
  if (plain.kind === 'scalar') return undefined;
  if (plain.kind === 'list') {
    if (plain.type === 'atomic') return undefined;
    const children: MutableSet = {};
    const items = itemsOf(value);
    const elements = itemElements(plain, items);
    for (let index = 0; index < items.length; index += 1) {
      const below = within(elements[index]!, plain.element, items[index]!);
      children[elements[index]!] = nodeOf(true, below ?? {}) ?? leaf;
    }
    return inOrder(children);
  }
  return plain.isAtomic ? undefined : mapChildren(plain, value);
}

function mapChildren(shape: MapShape, value: Json): MutableSet {
  const members = membersOf(value);
  const children: MutableSet = {};
  for (const name in members) {
    const member = members[name];
    if (member === undefined) continue;
    const element = fieldElement(name);
    const below = within(element, memberShape(shape, name), member);
    const counts = !shape.fields.has(name) || member === null || isEmptyMap(member);
    const node = below === undefined ? leaf : nodeOf(counts, below);
    if (node !== undefined) children[element] = node;
  }
  return inOrder(children);
}

function isEmptyMap(value: Json): boolean {
  return typeof value === 'object' && !Array.isArray(value) && isEmptyValue(value);
}

function within(element: string, shape: Shape | undefined, value: Json): MutableSet | undefined {
  if (!shape) throw new TypedError(['field not declared in schema']).under(element);
  try {
    return childrenOf(shape, value);
  } catch (error) {
    throw error instanceof TypedError ? error.under(element) : error;
  }
}
