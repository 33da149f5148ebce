/**
 * The apply shape of a custom resource: which values are atomic, which are merged, and which keys
 * identify list elements.
 */
import { applyShapes, type KeyField, type Shape, shapeOf } from '@orch/apimachinery';
import type { Structural } from './structural.js';

const { anyShape, anyScalar, listOf, mapOf, structOf } = applyShapes;
const text: Shape = { kind: 'scalar', type: 'string' };
const envelope: readonly [string, () => Shape][] = [
  ['apiVersion', () => text],
  ['kind', () => text],
  ['metadata', () => shapeOf('meta/v1.ObjectMeta')],
];

/** The shape of the objects; without a schema, everything is merged member by member. */
export function resourceShape(
  structural: Structural | undefined,
  preserveUnknownFields: boolean,
): Shape {
  if (!structural) return mapOf(anyShape);
  return structShape(structural, preserveUnknownFields, true);
}

/** If unknown fields are preserved, they are preserved at every level below. */
function shapeFor(structural: Structural, keepsUnknown: boolean): Shape {
  const { type, schema, extensions, items, properties } = structural;
  const keeps = keepsUnknown || extensions.preserveUnknownFields === true;
  switch (type) {
    case 'object':
      return objectShape(structural, keeps);
    case 'array':
      return items ? listShape(structural, items, keeps) : anyShape;
    case 'integer':
    case 'number':
      return { kind: 'scalar', type: 'numeric' };
    case 'boolean':
      return { kind: 'scalar', type: 'boolean' };
    case 'string':
      return !schema.format || schema.format === 'byte' ? text : anyScalar;
    default:
      return properties.size > 0 ? structShape(structural, keeps, false) : anyShape;
  }
}

function objectShape(structural: Structural, keepsUnknown: boolean): Shape {
  const { properties, additional, extensions } = structural;
  const isResource = extensions.embeddedResource === true;
  if (properties.size > 0 || isResource) return structShape(structural, keepsUnknown, isResource);
  const others = typeof additional === 'object' ? shapeFor(additional, keepsUnknown) : anyShape;
  return mapOf(others, extensions.mapType === 'atomic');
}

function structShape(structural: Structural, keepsUnknown: boolean, isResource: boolean): Shape {
  const { properties, extensions } = structural;
  const keeps = keepsUnknown || extensions.preserveUnknownFields === true;
  const members = new Map<string, Shape>();
  for (const [name, member] of properties) members.set(name, shapeFor(member, keeps));
  if (isResource) for (const [name, shape] of envelope) members.set(name, shape());
  return structOf(members, extensions.mapType === 'atomic', keeps ? anyShape : undefined);
}

function listShape({ extensions }: Structural, items: Structural, keepsUnknown: boolean): Shape {
  const { listType = 'atomic', listMapKeys = [] } = extensions;
  const element = shapeFor(items, keepsUnknown);
  if (listType === 'set') return listOf(element, 'set');
  if (listType !== 'map') return listOf(element, 'atomic');
  const keys = listMapKeys.map((name): KeyField => {
    const fallback = items.properties.get(name)?.default;
    return fallback === undefined ? { name } : { name, default: fallback };
  });
  return listOf(element, 'map', keys);
}
