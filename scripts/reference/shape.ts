/** The descriptors as the pages read them: names in parts, aliases followed, fields as they stand in JSON. */
import {
  type FieldDescriptor,
  schemaFile,
  schemaType,
  type TypeDescriptor,
  type TypeName,
} from '@orch/apimachinery';

/** The type a name stands for, aliases followed. */
export function canonical(name: TypeName): TypeName {
  const { file, type } = partsOf(name);
  return schemaFile(file).types[type]?.aliasOf ?? name;
}

export function partsOf(name: TypeName): { readonly file: string; readonly type: string } {
  const at = name.lastIndexOf('.');
  return { file: name.slice(0, at), type: name.slice(at + 1) };
}

/** The fields as they stand in JSON: members that stand in the parent are among them, with their owner. */
export function fieldsOf(name: TypeName): { owner: TypeName; field: FieldDescriptor }[] {
  return schemaType(name).fields.flatMap((field) =>
    field.inline && field.ref ? fieldsOf(canonical(field.ref)) : [{ owner: name, field }],
  );
}

/** Has fields to tell of: its JSON form is not one of those that are told of at one place. */
export function hasFields(type: TypeDescriptor): boolean {
  return type.encoding === undefined;
}
