/** Descriptors as the pages use them: split names, resolved aliases, and fields as in JSON. */
import {
  type FieldDescriptor,
  schemaFile,
  schemaType,
  type TypeDescriptor,
  type TypeName,
} from '@orch/apimachinery';

/** The type of a name, with aliases resolved. */
export function canonical(name: TypeName): TypeName {
  const { file, type } = partsOf(name);
  return schemaFile(file).types[type]?.aliasOf ?? name;
}

export function partsOf(name: TypeName): { readonly file: string; readonly type: string } {
  const at = name.lastIndexOf('.');
  return { file: name.slice(0, at), type: name.slice(at + 1) };
}

/** The fields as in JSON, including inlined members, with their owner. */
export function fieldsOf(name: TypeName): { owner: TypeName; field: FieldDescriptor }[] {
  return schemaType(name).fields.flatMap((field) =>
    field.inline && field.ref ? fieldsOf(canonical(field.ref)) : [{ owner: name, field }],
  );
}

/**
 * Reports whether the type has fields to describe; types with their own JSON encoding are described
 * on one page.
 */
export function hasFields(type: TypeDescriptor): boolean {
  return type.encoding === undefined;
}
