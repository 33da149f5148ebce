/** The shapes that strategic merge patches follow, read from the schema. */
import type { FieldDescriptor, TypeDescriptor } from '../descriptors/descriptor.js';
import { schemaType } from '../schema/registry.js';
import { freeFormShape, type MergeField, type MergeSchema } from './merge-schema.js';

const shapes = new Map<string, MergeSchema>();

class TypeShape implements MergeSchema {
  private fields: Map<string, MergeField> | undefined;

  constructor(private readonly descriptor: TypeDescriptor) {}

  field(name: string): MergeField | undefined {
    this.fields ??= fieldsOf(this.descriptor);
    return this.fields.get(name);
  }
}

/** The shape of a type such as `core/v1.Pod`. */
export function mergeSchemaOf(type: string): MergeSchema {
  let shape = shapes.get(type);
  if (!shape) {
    const descriptor = schemaType(type);
    shape = descriptor.encoding ? freeFormShape : new TypeShape(descriptor);
    shapes.set(type, shape);
  }
  return shape;
}

function fieldsOf(descriptor: TypeDescriptor): Map<string, MergeField> {
  const fields = new Map<string, MergeField>();
  for (const field of descriptor.fields) {
    if (field.inline && field.ref) {
      for (const [name, member] of fieldsOf(schemaType(field.ref))) fields.set(name, member);
    } else fields.set(field.name, mergeField(field));
  }
  return fields;
}

function mergeField(field: FieldDescriptor): MergeField {
  const isMerged = field.mergeStrategy?.split(',').includes('merge') ?? false;
  const shape = field.kind === 'message' && field.ref ? mergeSchemaOf(field.ref) : undefined;
  return {
    ...(shape && { shape }),
    merge: isMerged,
    ...(field.mergeKey !== undefined && { mergeKey: field.mergeKey }),
  };
}
