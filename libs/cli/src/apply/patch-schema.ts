/**
 * The merge rules of the fields of built-in kinds, from the same schema that the server uses.
 * Custom kinds have no such schema: they take merge patches.
 */
import {
  type FieldDescriptor,
  kindNamed,
  schemaType,
  type TypeDescriptor,
} from '@orch/apimachinery';
import { apiVersionOf, type ResourceType } from '../session/catalog.js';

export interface PatchField {
  readonly shape?: PatchSchema;
  /** For a list: whether its elements are merged. Otherwise the whole list is replaced. */
  readonly merge: boolean;
  readonly mergeKey?: string;
  /**
   * Whether the patch drops the keys of the live map that the configuration lacks, as for a union
   * of alternatives.
   */
  readonly retainKeys: boolean;
}

export interface PatchSchema {
  field(name: string): PatchField | undefined;
}

/** The schema of a built-in kind. Undefined for any other kind. */
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
    // The keys of a map are data, so its values are merged without a schema.
    shape: field.ref && field.cardinality !== 'map' ? schemaOf(schemaType(field.ref)) : undefined,
    merge: strategies.includes('merge'),
    mergeKey: field.mergeKey,
    retainKeys: strategies.includes('retainKeys'),
  };
}
