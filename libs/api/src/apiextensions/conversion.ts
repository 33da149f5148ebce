/**
 * Converts CustomResourceDefinition between its versions. The hub is v1beta1, which holds the
 * settings that all versions share once at the top of the spec; v1 repeats them for each version.
 */
import { deepEqual } from '@orch/apimachinery';
import type * as v1 from '@orch/types/apiextensions/v1';
import type * as v1beta1 from '@orch/types/apiextensions/v1beta1';

type PerVersion = 'schema' | 'subresources' | 'additionalPrinterColumns';
type StoredVersion = v1beta1.CustomResourceDefinitionVersion;

export function fromV1(object: v1.CustomResourceDefinition): v1beta1.CustomResourceDefinition {
  const { versions, conversion, preserveUnknownFields, ...spec } = object.spec ?? {};
  const listed = (versions ?? []).map(storedVersion);
  const [first] = listed;
  const validation = sharedBy(listed, 'schema');
  const subresources = sharedBy(listed, 'subresources');
  const columns = sharedBy(listed, 'additionalPrinterColumns');
  return {
    ...object,
    spec: {
      ...spec,
      ...(first && first.name !== '' && { version: first.name }),
      ...(validation && { validation }),
      ...(subresources && { subresources }),
      ...(versions && { versions: listed }),
      ...(columns && { additionalPrinterColumns: columns }),
      ...(conversion && { conversion: storedConversion(conversion) }),
      preserveUnknownFields: preserveUnknownFields ?? false,
    },
  };
}

export function toV1(object: v1beta1.CustomResourceDefinition): v1.CustomResourceDefinition {
  const {
    version,
    versions,
    validation,
    subresources,
    additionalPrinterColumns,
    conversion,
    preserveUnknownFields,
    ...spec
  } = object.spec ?? {};
  const listed: readonly StoredVersion[] =
    versions ?? (version ? [{ name: version, served: true, storage: true }] : []);
  return {
    ...object,
    spec: {
      ...spec,
      ...(listed.length > 0 && {
        versions: listed.map((version) =>
          versionFromStored({
            ...version,
            ...(validation && { schema: validation }),
            ...(subresources && { subresources }),
            ...(additionalPrinterColumns && { additionalPrinterColumns }),
          }),
        ),
      }),
      ...(conversion && { conversion: conversionFromStored(conversion) }),
      ...(preserveUnknownFields && { preserveUnknownFields }),
    },
  };
}

/**
 * Removes the fields that all versions share and returns them. Undefined if they differ or none has
 * them.
 */
function sharedBy<Field extends PerVersion>(
  versions: readonly StoredVersion[],
  field: Field,
): StoredVersion[Field] | undefined {
  const value = versions[0]?.[field];
  if (value === undefined || !versions.every((version) => deepEqual(version[field], value))) {
    return undefined;
  }
  for (const version of versions) delete version[field];
  return value;
}

function storedVersion(version: v1.CustomResourceDefinitionVersion): StoredVersion {
  const { additionalPrinterColumns, ...rest } = version;
  return {
    ...rest,
    ...(additionalPrinterColumns && {
      additionalPrinterColumns: additionalPrinterColumns.map(({ jsonPath, ...column }) => ({
        ...column,
        JSONPath: jsonPath,
      })),
    }),
  };
}

function versionFromStored(version: StoredVersion): v1.CustomResourceDefinitionVersion {
  const { additionalPrinterColumns, ...rest } = version;
  return {
    ...rest,
    ...(additionalPrinterColumns && {
      additionalPrinterColumns: additionalPrinterColumns.map(({ JSONPath, ...column }) => ({
        ...column,
        jsonPath: JSONPath,
      })),
    }),
  };
}

function storedConversion({
  strategy,
  webhook,
}: v1.CustomResourceConversion): v1beta1.CustomResourceConversion {
  const { clientConfig, conversionReviewVersions } = webhook ?? {};
  return {
    strategy,
    ...(clientConfig && { webhookClientConfig: clientConfig }),
    ...(conversionReviewVersions && { conversionReviewVersions }),
  };
}

function conversionFromStored(
  conversion: v1beta1.CustomResourceConversion,
): v1.CustomResourceConversion {
  const { strategy, webhookClientConfig, conversionReviewVersions } = conversion;
  if (!webhookClientConfig && !conversionReviewVersions) return { strategy };
  return {
    strategy,
    webhook: {
      ...(webhookClientConfig && { clientConfig: webhookClientConfig }),
      ...(conversionReviewVersions && { conversionReviewVersions }),
    },
  };
}
