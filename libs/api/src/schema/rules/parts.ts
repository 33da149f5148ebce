/** Traverses schemas: the direct subschemas, and properties of the whole tree. */
import type { FieldPath } from '@orch/apimachinery';
import type {
  CustomResourceDefinitionSpec,
  JSONSchemaProps,
} from '@orch/types/apiextensions/v1beta1';
import { extensionsOf } from '../common/extensions.js';

/** Reports whether any schema of the tree satisfies the predicate. */
export function someSchema(
  schema: JSONSchemaProps,
  has: (schema: JSONSchemaProps) => boolean,
): boolean {
  return has(schema) || innerSchemas(schema).some((inner) => someSchema(inner, has));
}

function innerSchemas(schema: JSONSchemaProps): JSONSchemaProps[] {
  const { items, not, additionalProperties, additionalItems } = schema;
  const inner = [
    ...(Array.isArray(items) ? items : [items]),
    ...(schema.allOf ?? []),
    ...(schema.anyOf ?? []),
    ...(schema.oneOf ?? []),
    not,
    ...Object.values(schema.properties ?? {}),
    ...Object.values(schema.patternProperties ?? {}),
    ...Object.values(schema.definitions ?? {}),
    ...Object.values(schema.dependencies ?? {}),
    additionalProperties,
    additionalItems,
  ];
  return inner.filter(isSchema);
}

function isSchema(value: unknown): value is JSONSchemaProps {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Schemas in conditions, each with its path. */
export function alternativesOf(
  schema: JSONSchemaProps,
  fieldPath: FieldPath,
): (readonly [JSONSchemaProps, FieldPath])[] {
  const found: [JSONSchemaProps, FieldPath][] = [];
  if (schema.not) found.push([schema.not, fieldPath.child('not')]);
  for (const name of ['allOf', 'oneOf', 'anyOf'] as const) {
    for (const [index, part] of (schema[name] ?? []).entries()) {
      found.push([part, fieldPath.child(name).index(index)]);
    }
  }
  return found;
}

export const hasDefault = ({ default: value }: JSONSchemaProps): boolean =>
  value !== undefined && value !== null;

/** Reports whether any schema of the tree has a default. */
export function hasDefaults(schema: JSONSchemaProps): boolean {
  return someSchema(schema, hasDefault);
}

/** Reports whether any schema of the tree has an extension that requires structural schemas. */
export function hasExtensions(schema: JSONSchemaProps): boolean {
  return someSchema(schema, (inner) => {
    const { preserveUnknownFields, embeddedResource, intOrString, listMapKeys, listType } =
      extensionsOf(inner);
    return (
      preserveUnknownFields !== undefined ||
      embeddedResource === true ||
      intOrString === true ||
      (listMapKeys?.length ?? 0) > 0 ||
      listType !== undefined
    );
  });
}

/** All schemas of a definition: the top-level one and those of each version. */
export function schemasOf({ validation, versions = [] }: CustomResourceDefinitionSpec) {
  const all = [validation, ...versions.map(({ schema }) => schema)];
  return all.flatMap((entry) => (entry?.openAPIV3Schema ? [entry.openAPIV3Schema] : []));
}
