/**
 * The shapes of API types as upstream holds them in memory, from the descriptors: names of fields
 * and types, pointers, and the order of fields. Compiled once for each type. Pure.
 */
import { type FieldDescriptor, schemaType, type TypeName } from '@orch/apimachinery';
import { fieldNames, fieldOrders } from './upstream-names.js';

export interface StructField {
  /** Name in the printed structure. */
  readonly label: string;
  readonly name: string;
  readonly shape: Shape;
}

export type Shape =
  | { readonly kind: 'text' }
  | { readonly kind: 'number' }
  | { readonly kind: 'bool' }
  | { readonly kind: 'quantity' }
  | { readonly kind: 'struct'; readonly type: string; readonly fields: readonly StructField[] }
  | { readonly kind: 'pointer'; readonly of: Shape }
  | { readonly kind: 'list'; readonly type: string; readonly of: Shape }
  | { readonly kind: 'map'; readonly type: string; readonly of: Shape; readonly prefix: string };

const compiled = new Map<TypeName, Shape>();

/** The shape of a structure. Throws RangeError if the type is unknown. */
export function shapeOf(name: TypeName): Shape {
  const known = compiled.get(name);
  if (known) return known;
  const type = shortName(name);
  const order = fieldOrders[type];
  const fields = [...schemaType(name).fields];
  if (order) fields.sort((a, b) => order.indexOf(a.name) - order.indexOf(b.name));
  const shape: Shape = {
    kind: 'struct',
    type: `${name.startsWith('meta/') ? 'v1' : 'core'}.${type}`,
    fields: fields.map((field) => ({
      label: fieldNames[`${type}.${field.name}`] ?? labelOf(field.name),
      name: field.name,
      shape: fieldShape(field),
    })),
  };
  compiled.set(name, shape);
  return shape;
}

const shortName = (name: string) => name.slice(name.lastIndexOf('.') + 1);
const initialisms = /^(aws|csi|fc|fs|gce|iqn|iscsi|nfs|pd(?=Name)|rbd|ssl|api|wwids)/;

/** The exported name of a JSON field. */
function labelOf(name: string): string {
  if (name === 'wwids') return 'WWIDs';
  const start = initialisms.exec(name)?.[0];
  if (start) return start.toUpperCase() + name.slice(start.length);
  return name.charAt(0).toUpperCase() + name.slice(1);
}

function fieldShape(field: FieldDescriptor): Shape {
  const of = valueShape(field);
  const element = typeNameOf(field, of);
  if (field.cardinality === 'list') return { kind: 'list', type: `[]${element}`, of };
  if (field.cardinality === 'map') {
    const isResources = of.kind === 'quantity';
    return isResources
      ? { kind: 'map', type: 'core.ResourceList', of, prefix: 's' }
      : { kind: 'map', type: `map[string]${element}`, of, prefix: '' };
  }
  return field.nullable ? { kind: 'pointer', of } : of;
}

function valueShape({ kind, ref }: FieldDescriptor): Shape {
  if (kind === 'message' && ref) {
    return schemaType(ref).encoding === 'quantity' ? { kind: 'quantity' } : shapeOf(ref);
  }
  if (kind === 'bool') return { kind: 'bool' };
  return kind === 'int32' || kind === 'int64' ? { kind: 'number' } : { kind: 'text' };
}

function typeNameOf({ kind, enumType }: FieldDescriptor, shape: Shape): string {
  if (shape.kind === 'struct') return shape.type;
  if (enumType) return `core.${enumType}`;
  return kind === 'int32' || kind === 'int64' ? kind : 'string';
}
