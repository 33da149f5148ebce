/**
 * How the fields of the built-in kinds are merged, from the schema that the server has too. Custom kinds
 * have none: they take merge patches.
 */
import {
  type FieldDescriptor,
  kindNamed,
  schemaType,
  type TypeDescriptor,
} from '@orch/apimachinery';
import { apiVersionOf, type ResourceType } from '../catalog.js';

export interface PatchField {
  readonly shape?: PatchSchema;
  /** Lists: elements are merged instead of the list being replaced. */
  readonly merge: boolean;
  readonly mergeKey?: string;
  /** Of the live map only the keys that the configuration has are kept: one choice out of several. */
  readonly retainKeys: boolean;
}

export interface PatchSchema {
  field(name: string): PatchField | undefined;
}

/** Undefined for kinds that are not built in. */
export function patchSchemaOf(type: ResourceType): PatchSchema | undefined {
  const known = kindNamed(apiVersionOf(type), type.kind);
  return known && schemaOf(schemaType(known.type));
}

function schemaOf(type: TypeDescriptor): PatchSchema | undefined {
  // Types with a JSON form of their own (times, quantities) are scalars to a patch.
  if (type.encoding) return undefined;
  const inlined = type.fields
    .filter((field) => field.inline && field.ref)
    .map((field) => schemaOf(schemaType(field.ref!)));
  return {
    field(name) {
      const own = type.fields.find((field) => field.name === name && !field.inline);
      if (own) return patchField(own);
      for (const schema of inlined) {
        const found = schema?.field(name);
        if (found) return found;
      }
      return undefined;
    },
  };
}

function patchField(field: FieldDescriptor): PatchField {
  const strategies = field.mergeStrategy?.split(',') ?? [];
  return {
    // The keys of a map are data: its values are merged without a schema.
    shape: field.ref && field.cardinality !== 'map' ? schemaOf(schemaType(field.ref)) : undefined,
    merge: strategies.includes('merge'),
    mergeKey: field.mergeKey,
    retainKeys: strategies.includes('retainKeys'),
  };
}
