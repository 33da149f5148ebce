/** The schemas that stand directly inside another one, and what all of a tree say. */
import type { FieldPath } from '@orch/apimachinery';
import type {
  CustomResourceDefinitionSpec,
  JSONSchemaProps,
} from '@orch/types/apiextensions/v1beta1';
import { extensionsOf } from './extensions.js';

/** Does any schema of a tree have this? */
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

/** Schemas under conditions, each with its place. */
export function alternativesOf(
  schema: JSONSchemaProps,
  at: FieldPath,
): (readonly [JSONSchemaProps, FieldPath])[] {
  const found: [JSONSchemaProps, FieldPath][] = [];
  if (schema.not) found.push([schema.not, at.child('not')]);
  for (const name of ['allOf', 'oneOf', 'anyOf'] as const) {
    for (const [index, part] of (schema[name] ?? []).entries()) {
      found.push([part, at.child(name).index(index)]);
    }
  }
  return found;
}

export const hasDefault = ({ default: value }: JSONSchemaProps): boolean =>
  value !== undefined && value !== null;

/** Does any schema of a tree set a default? */
export function hasDefaults(schema: JSONSchemaProps): boolean {
  return someSchema(schema, hasDefault);
}

/** Does any schema of a tree use an extension that only structural schemas may? */
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

/** All schemas of a definition: the one of all versions and those of each. */
export function schemasOf({ validation, versions = [] }: CustomResourceDefinitionSpec) {
  const all = [validation, ...versions.map(({ schema }) => schema)];
  return all.flatMap((one) => (one?.openAPIV3Schema ? [one.openAPIV3Schema] : []));
}
