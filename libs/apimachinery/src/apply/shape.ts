/**
 * The merge-relevant shape of a type: which values are atomic, which are merged member by member,
 * and which keys identify list elements. Shapes of API types are built from their descriptors on
 * first use and cached; the schema of a custom resource can be converted to one as well.
 */

import type { FieldDescriptor, TypeDescriptor, TypeName } from '../descriptors/descriptor.js';
import type { Json } from '../patch/json-values.js';
import { jsonFields } from '../schema/compiled-type.js';
import { schemaType } from '../schema/registry.js';
import { fieldElement, type PathElement } from './path-element.js';

export type ScalarType = 'string' | 'numeric' | 'boolean' | 'untyped';

export interface ScalarShape {
  readonly kind: 'scalar';
  readonly type: ScalarType;
}

/** A field that identifies list elements. */
export interface KeyField {
  readonly name: string;
  /** Used if an element does not have the field. */
  readonly default?: Json;
}

export interface ListShape {
  readonly kind: 'list';
  readonly type: 'atomic' | 'set' | 'map';
  readonly element: Shape;
  /** Ordered; for lists of type `map`. */
  readonly keys: readonly KeyField[];
}

export interface Member {
  readonly element: PathElement;
  readonly shape: Shape;
  /** The value of the field if it is not set; the field is never really absent. */
  readonly absent?: Json;
}

/** Objects with named fields, and maps whose keys are data. */
export interface MapShape {
  readonly kind: 'map';
  readonly isAtomic: boolean;
  readonly fields: ReadonlyMap<string, Member>;
  /** The fields that are never absent. */
  readonly present: readonly (readonly [string, Member])[];
  /** Shape of members that are not named fields; absent if such members are not allowed. */
  readonly others?: Shape;
}

/** Any value: scalars, atomic lists, objects merged member by member. */
export interface AnyShape {
  readonly kind: 'any';
}

export type Shape = ScalarShape | ListShape | MapShape | AnyShape;

export const anyShape: AnyShape = { kind: 'any' };
const noMembers: ReadonlyMap<string, Member> = new Map();
export const anyMap: MapShape = mapOf(anyShape);
export const anyList: ListShape = { kind: 'list', type: 'atomic', element: anyShape, keys: [] };
export const anyScalar: ScalarShape = { kind: 'scalar', type: 'untyped' };
const text: ScalarShape = { kind: 'scalar', type: 'string' };
const numeric: ScalarShape = { kind: 'scalar', type: 'numeric' };
const boolean: ScalarShape = { kind: 'scalar', type: 'boolean' };

/** Shape of the member with this name; undefined if the type has no such member. */
export function memberShape(shape: MapShape, name: string): Shape | undefined {
  return shape.fields.get(name)?.shape ?? shape.others;
}

export function mapOf(others: Shape, isAtomic = false): MapShape {
  return { kind: 'map', isAtomic, fields: noMembers, present: [], others };
}

export function structOf(
  members: ReadonlyMap<string, Shape>,
  isAtomic = false,
  others?: Shape,
): MapShape {
  const fields = new Map<string, Member>();
  for (const [name, shape] of members) fields.set(name, { element: fieldElement(name), shape });
  return { kind: 'map', isAtomic, fields, present: [], ...(others && { others }) };
}

export function listOf(
  element: Shape,
  type: ListShape['type'],
  keys: readonly KeyField[] = [],
): ListShape {
  const inOrder = [...keys].sort((a, b) => (a.name < b.name ? -1 : 1));
  return { kind: 'list', type, element, keys: inOrder };
}

const shapes = new Map<TypeName, Shape>();

/** The shape of a type such as `core/v1.Pod`. Throws RangeError if the type does not exist. */
export function shapeOf(name: TypeName): Shape {
  let shape = shapes.get(name);
  if (!shape) {
    const descriptor = schemaType(name);
    shape = descriptor.encoding ? encodedShape(descriptor) : new TypeShape(name, descriptor);
    shapes.set(name, shape);
  }
  return shape;
}

/** Types may be recursive, so the fields are resolved on first use. */
class TypeShape implements MapShape {
  readonly kind = 'map';
  readonly isAtomic: boolean;
  private members: Map<string, Member> | undefined;
  private neverAbsent: [string, Member][] | undefined;

  constructor(
    private readonly name: TypeName,
    private readonly descriptor: TypeDescriptor,
  ) {
    this.isAtomic = descriptor.structType === 'atomic';
  }

  get fields(): ReadonlyMap<string, Member> {
    this.members ??= this.read();
    return this.members;
  }

  get present(): readonly (readonly [string, Member])[] {
    this.neverAbsent ??= [...this.fields].filter(([, { absent }]) => absent !== undefined);
    return this.neverAbsent;
  }

  private read(): Map<string, Member> {
    const members = new Map<string, Member>();
    if (this.descriptor.typeMeta) {
      for (const name of ['kind', 'apiVersion']) {
        members.set(name, { element: fieldElement(name), shape: text });
      }
    }
    for (const field of jsonFields(this.name)) {
      const absent = absentValue(field);
      members.set(field.name, {
        element: fieldElement(field.name),
        shape: fieldShape(field),
        ...(absent !== undefined && { absent }),
      });
    }
    return members;
  }
}

function encodedShape({ encoding }: TypeDescriptor): Shape {
  switch (encoding) {
    case 'time':
    case 'microTime':
    case 'quantity':
    case 'intOrString':
      return anyScalar;
    case 'duration':
      return text;
    case 'stringList':
      return listOf(text, 'atomic');
    default:
      return anyShape;
  }
}

function fieldShape(field: FieldDescriptor): Shape {
  const element = elementShape(field);
  if (field.cardinality === 'map') return mapOf(element, field.mapType === 'atomic');
  if (field.cardinality === 'list') return listShape(field, element);
  return field.structType === 'atomic' && element.kind === 'map'
    ? { kind: 'map', isAtomic: true, fields: element.fields, present: element.present }
    : element;
}

/** The value that an unset field is always written with; undefined if it may be absent. */
function absentValue({
  kind,
  cardinality,
  always,
  nullable,
  ref,
}: FieldDescriptor): Json | undefined {
  if (cardinality !== undefined) return always ? null : undefined;
  if (nullable) return undefined;
  if (kind === 'message' && ref) return absentMessage(schemaType(ref));
  if (!always) return undefined;
  if (kind === 'string') return '';
  if (kind === 'bool') return false;
  return kind === 'bytes' || kind === 'any' ? null : 0;
}

function absentMessage({ encoding }: TypeDescriptor): Json {
  switch (encoding) {
    case undefined:
      return {};
    case 'quantity':
      return '0';
    case 'intOrString':
      return 0;
    case 'duration':
      return '0s';
    default:
      return null;
  }
}

function elementShape(field: FieldDescriptor): Shape {
  switch (field.kind) {
    case 'string':
    case 'bytes':
      return text;
    case 'bool':
      return boolean;
    case 'int32':
    case 'int64':
    case 'double':
      return numeric;
    case 'message':
      return field.ref ? shapeOf(field.ref) : anyShape;
    case 'any':
      return anyShape;
  }
}

/** Without a list type, apply merges the lists that strategic merge patches merge. */
function listShape(field: FieldDescriptor, element: Shape): ListShape {
  const { listType, listMapKeys = [], mergeStrategy, mergeKey, ref } = field;
  if (listType === 'map') return listOf(element, 'map', keyFields(listMapKeys, ref));
  if (listType !== undefined) return listOf(element, listType);
  if (mergeStrategy !== 'merge' && mergeStrategy !== 'merge,retainKeys') {
    return listOf(element, 'atomic');
  }
  return mergeKey === undefined
    ? listOf(element, 'set')
    : listOf(element, 'map', keyFields([mergeKey], ref));
}

function keyFields(names: readonly string[], type: TypeName | undefined): KeyField[] {
  const fields = type === undefined ? [] : jsonFields(type);
  return names.map((name) => {
    const field = fields.find((candidate) => candidate.name === name);
    const fallback = field?.default;
    if (fallback === undefined) return { name };
    const isText = field?.kind === 'string' || field?.kind === 'bytes';
    return { name, default: isText ? fallback : (JSON.parse(fallback) as Json) };
  });
}
