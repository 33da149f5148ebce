/**
 * The kind that a definition brings, as the registry works with it: a definition like those of the kinds
 * that are built in, one for each version, since columns, subresources and rules are a version's own.
 * Made from the stored definition alone, so that every server makes the same of it.
 */
import { isConditionTrue } from '@orch/apimachinery';
import type {
  CustomResourceConversion,
  CustomResourceDefinition,
  CustomResourceDefinitionVersion,
} from '@orch/types/apiextensions/v1beta1';
import type { ResourceDefinition, ServedVersion, Verb } from '../definition.js';
import { tableColumns } from './custom-columns.js';
import { customRules } from './custom-rules.js';
import { customScale } from './custom-scale.js';
import { deprecationText } from './deprecation-warning.js';
import { compileSchema, type StructuralSchema } from './schema/index.js';

/** In the order in which clients are told of them. */
const verbs: readonly Verb[] = [
  'delete',
  'deletecollection',
  'get',
  'list',
  'patch',
  'create',
  'update',
  'watch',
];
/** What is still told of while the objects are being removed. */
const verbsAtTheEnd = verbs.filter((verb) => !['patch', 'create', 'update'].includes(verb));

export interface CustomVersion {
  readonly isServed: boolean;
  readonly definition: ResourceDefinition;
}

export interface CustomKind {
  /** Of the definition. */
  readonly name: string;
  readonly group: string;
  readonly plural: string;
  readonly kind: string;
  /** The version in which objects are stored. */
  readonly storageVersion: string;
  /** Its objects are being removed: there will be no new ones. */
  readonly isTerminating: boolean;
  readonly conversion: CustomResourceConversion;
  readonly versions: readonly CustomVersion[];
}

/** Undefined for a definition that is not established: there is nothing to serve. */
export function customKindOf(object: CustomResourceDefinition): CustomKind | undefined {
  const { spec, status, metadata } = object;
  const versions = spec.versions ?? [];
  const storage = versions.find((version) => version.storage);
  if (!storage || !isConditionTrue(status?.conditions, 'Established')) return undefined;
  const listed: CustomVersion[] = [];
  const kind: CustomKind = {
    name: metadata?.name ?? '',
    group: spec.group,
    plural: spec.names.plural,
    kind: spec.names.kind,
    storageVersion: storage.name,
    isTerminating: metadata?.deletionTimestamp !== undefined,
    conversion: spec.conversion ?? { strategy: 'None' },
    versions: listed,
  };
  for (const version of versions) {
    const definition = definitionOf(object, kind, version);
    listed.push({ isServed: version.served, definition });
  }
  return kind;
}

/** What a kind is made from: while it is the same, so are its objects. */
export function customKindSource({ spec, status }: CustomResourceDefinition): string {
  const isEstablished = isConditionTrue(status?.conditions, 'Established');
  return JSON.stringify([spec, status?.acceptedNames, isEstablished]);
}

function definitionOf(
  { spec, status }: CustomResourceDefinition,
  custom: CustomKind,
  version: CustomResourceDefinitionVersion,
): ResourceDefinition {
  const { singular, listKind, shortNames, categories } = status?.acceptedNames ?? spec.names;
  const { group, kind, plural } = custom;
  const subresources = version.subresources ?? spec.subresources;
  const columns = version.additionalPrinterColumns ?? spec.additionalPrinterColumns;
  const { openAPIV3Schema } = version.schema ?? spec.validation ?? {};
  const preserves = spec.preserveUnknownFields ?? false;
  const schema = lazily(() => compileSchema(openAPIV3Schema, preserves));
  const scale = subresources?.scale && customScale(subresources.scale, { group, plural });
  return {
    plural,
    singular: singular ?? kind.toLowerCase(),
    kind,
    ...(listKind && { listKind }),
    ...(shortNames?.length && { shortNames }),
    ...(categories?.length && { categories }),
    namespaced: spec.scope === 'Namespaced',
    custom,
    verbs: custom.isTerminating ? verbsAtTheEnd : verbs,
    versions: [servedVersion(custom.group, version, schema, deprecationText(spec, version))],
    stored: { group, version: version.name },
    hasGeneration: true,
    strictFinalizers: false,
    unconditionalUpdate: false,
    ...customRules(schema, subresources),
    ...(scale && { scale }),
    columns: tableColumns(columns),
    // None but those of the metadata.
    selectableFields: {},
  };
}

function servedVersion(
  group: string,
  { name }: CustomResourceDefinitionVersion,
  schema: () => StructuralSchema,
  warning: string | undefined,
): ServedVersion {
  return {
    group,
    version: name,
    get schema() {
      return schema();
    },
    ...(warning !== undefined && { warning }),
  };
}

/** Schemas are compiled when the first object comes: there may be many definitions. */
function lazily<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}
