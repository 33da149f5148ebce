/** Validates the versions of a definition, and the settings per version or at the top. */
import { deepEqual, type FieldError, type FieldPath, fieldError, path } from '@orch/apimachinery';
import type {
  CustomResourceDefinitionSpec,
  CustomResourceDefinitionVersion,
  CustomResourceSubresources,
} from '@orch/types/apiextensions/v1beta1';
import { columnErrors, type SchemaRules, scaleErrors, schemaErrors } from '../schema/index.js';
import { deprecationWarningErrors } from './deprecation-warning.js';
import { labelErrors } from './name-rules.js';

const spec = path('spec');

export function versionErrors(own: CustomResourceDefinitionSpec, rules: SchemaRules): FieldError[] {
  const { versions = [], version = '' } = own;
  const fieldPath = spec.child('versions');
  const errors = versions.flatMap((entry, index) =>
    oneVersionErrors(own, entry, rules, fieldPath.index(index)),
  );
  errors.push(...exclusiveErrors(own, versions));
  if (new Set(versions.map(({ name }) => name)).size !== versions.length) {
    errors.push(fieldError.invalid(fieldPath, versions, 'must contain unique version names'));
  }
  if (versions.filter(({ storage }) => storage).length !== 1) {
    errors.push(
      fieldError.invalid(
        fieldPath,
        versions,
        'must have exactly one version marked as storage version',
      ),
    );
  }
  if (version !== '') {
    errors.push(...labelErrors(version, spec.child('version')));
    if (versions[0] && versions[0].name !== version) {
      errors.push(
        fieldError.invalid(
          spec.child('version'),
          version,
          'must match the first version in spec.versions',
        ),
      );
    }
  }
  return errors;
}

function oneVersionErrors(
  own: CustomResourceDefinitionSpec,
  version: CustomResourceDefinitionVersion,
  rules: SchemaRules,
  fieldPath: FieldPath,
): FieldError[] {
  const { status } = version.subresources ?? own.subresources ?? {};
  return [
    ...labelErrors(version.name, fieldPath.child('name')),
    ...deprecationWarningErrors(version, fieldPath.child('deprecationWarning')),
    ...schemaErrors(version.schema?.openAPIV3Schema, fieldPath.child('schema'), {
      ...rules,
      statusSubresource: status !== undefined,
    }),
    ...subresourceErrors(version.subresources, fieldPath.child('subresources')),
    ...(version.additionalPrinterColumns ?? []).flatMap((column, index) =>
      columnErrors(column, fieldPath.child('additionalPrinterColumns').index(index)),
    ),
  ];
}

const perVersion = [
  ['validation', 'schema', 'schemas'],
  ['subresources', 'subresources', 'subresources'],
  ['additionalPrinterColumns', 'additionalPrinterColumns', 'additionalPrinterColumns'],
] as const;

/**
 * A setting is either at the top or per version; values equal in all versions must be at the top.
 */
function exclusiveErrors(
  own: CustomResourceDefinitionSpec,
  versions: readonly CustomResourceDefinitionVersion[],
): FieldError[] {
  const both = perVersion
    .filter(([top, each]) => own[top] && versions.some((version) => version[each]))
    .map(([top, , what]) =>
      fieldError.forbidden(
        spec.child(top),
        `top-level and per-version ${what} are mutually exclusive`,
      ),
    );
  const first = versions[0];
  const alike = perVersion
    .filter(
      ([, each]) =>
        first?.[each] !== undefined &&
        versions.every((version) => deepEqual(version[each], first[each])),
    )
    .map(([top, , what]) =>
      fieldError.invalid(
        spec.child('versions'),
        versions,
        `per-version ${what} may not all be set to identical values (top-level ${top} should be used instead)`,
      ),
    );
  return [...both, ...alike];
}

export function subresourceErrors(
  subresources: CustomResourceSubresources | undefined,
  fieldPath: FieldPath,
): FieldError[] {
  return subresources?.scale ? scaleErrors(subresources.scale, fieldPath.child('scale')) : [];
}
