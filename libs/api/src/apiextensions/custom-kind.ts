/**
 * Converts a CustomResourceDefinition to the definitions that the registry serves: one for each
 * version, because columns, subresources and rules belong to a version. Depends on the stored
 * definition only, so that every server computes the same result.
 */
import { isConditionTrue } from '@orch/apimachinery';
import type {
  CustomResourceDefinition,
  CustomResourceDefinitionVersion,
} from '@orch/types/apiextensions/v1beta1';
import type {
  CustomKind,
  CustomVersion,
  ResourceDefinition,
  ServedVersion,
  Verb,
} from '../definition.js';
import { compileSchema, type StructuralSchema } from '../schema/index.js';
import { tableColumns } from './custom-columns.js';
import { customRules } from './custom-rules.js';
import { customScale } from './custom-scale.js';
import { deprecationText } from './deprecation-warning.js';

/** In discovery order. */
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
/** The verbs in discovery while the objects are being deleted. */
const verbsAtTheEnd = verbs.filter((verb) => !['patch', 'create', 'update'].includes(verb));

/** Undefined if the definition is not established. */
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

/** A text that changes whenever the kind changes. */
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
    // Metadata fields only.
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

/**
 * Computes the value on first use: schemas are compiled with the first object, because there may be
 * many definitions.
 */
function lazily<T>(make: () => T): () => T {
  let memo: { readonly value: T } | undefined;
  return () => {
    memo ??= { value: make() };
    return memo.value;
  };
}
