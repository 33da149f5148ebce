/** Definitions of custom resources, from the schemas of their CustomResourceDefinitions. */
import type { JsonObject, TypeName } from '@orch/apimachinery';
import { dialect } from '@orch/component';
import type { ServedResource } from '@orch/registry';
import { customPackagePrefix as prefix } from '@orch/registry';
import type { OpenApiVersion, Schema } from './schema-types.js';

export function isCustomType(name: TypeName): boolean {
  return name.startsWith(prefix);
}

/** `custom:stable.example.com/v1.CronTab` -> `com.example.stable.v1.CronTab`. */
export function customModelName(name: TypeName): string {
  const slash = name.indexOf('/');
  const group = name.slice(prefix.length, slash).split('.').reverse().join('.');
  return `${group}.${name.slice(slash + 1)}`;
}

/** Types that the definitions of custom resources refer to. */
export const customReferences: readonly TypeName[] = ['meta/v1.ObjectMeta', 'meta/v1.ListMeta'];

/** Creates references to other definitions. */
type Reference = (type: TypeName) => Schema;

/** The definition of the objects or, for a name other than the kind's, of their list. */
export function customSchema(
  version: OpenApiVersion,
  served: ServedResource,
  type: TypeName,
  reference: Reference,
): Schema {
  const { schemaPackage, kind, listKind } = served;
  if (type === `${schemaPackage}.${kind}`) return objectSchema(version, served, reference);
  const names = typeMembers();
  return {
    description: `A list of ${kind}.`,
    type: 'object',
    required: ['items'],
    properties: {
      ...names,
      metadata: described(version, reference('meta/v1.ListMeta'), 'Metadata of the list.'),
      items: {
        description: 'The elements of the list.',
        type: 'array',
        items: reference(`${schemaPackage}.${kind}`),
      },
    },
    ...kindExtension(served, listKind),
  };
}

function objectSchema(
  version: OpenApiVersion,
  served: ServedResource,
  reference: Reference,
): Schema {
  const metadata = described(
    version,
    reference('meta/v1.ObjectMeta'),
    'Standard object metadata, such as name and labels.',
  );
  const envelope: Record<'apiVersion' | 'kind' | 'metadata', Schema> = {
    ...typeMembers(),
    metadata,
  };
  const schema = served.served.schema?.openApi(
    version,
    envelope as unknown as Record<'apiVersion' | 'kind' | 'metadata', JsonObject>,
  );
  return { ...schema, ...kindExtension(served, served.kind) };
}

function typeMembers(): Record<'apiVersion' | 'kind', Schema> {
  return {
    apiVersion: {
      description: 'Group and version of the API in which the object is written.',
      type: 'string',
    },
    kind: {
      description: 'Kind of the object within its group and version.',
      type: 'string',
    },
  };
}

/** Version 3 allows nothing beside a reference. */
function described(version: OpenApiVersion, reference: Schema, description: string): Schema {
  return version === 2 ? { ...reference, description } : { allOf: [reference], description };
}

function kindExtension({ group, version }: ServedResource, kind: string): Schema {
  return {
    [dialect().extension('group-version-kind') as `x-${string}`]: [{ group, kind, version }],
  };
}
