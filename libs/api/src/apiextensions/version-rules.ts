/** Rules of the versions of a definition, and of what stands in them or at the top for all. */
import { deepEqual, type FieldError, type FieldPath, fieldError, path } from '@orch/apimachinery';
import type {
  CustomResourceDefinitionSpec,
  CustomResourceDefinitionVersion,
  CustomResourceSubresources,
} from '@orch/types/apiextensions/v1beta1';
import { deprecationWarningErrors } from './deprecation-warning.js';
import { labelErrors } from './name-rules.js';
import { columnErrors, type SchemaRules, scaleErrors, schemaErrors } from './schema/index.js';

const spec = path('spec');

export function versionErrors(own: CustomResourceDefinitionSpec, rules: SchemaRules): FieldError[] {
  const { versions = [], version = '' } = own;
  const at = spec.child('versions');
  const errors = versions.flatMap((one, index) =>
    oneVersionErrors(own, one, rules, at.index(index)),
  );
  errors.push(...exclusiveErrors(own, versions));
  if (new Set(versions.map(({ name }) => name)).size !== versions.length) {
    errors.push(fieldError.invalid(at, versions, 'must contain unique version names'));
  }
  if (versions.filter(({ storage }) => storage).length !== 1) {
    errors.push(
      fieldError.invalid(at, versions, 'must have exactly one version marked as storage version'),
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
  at: FieldPath,
): FieldError[] {
  const { status } = version.subresources ?? own.subresources ?? {};
  return [
    ...labelErrors(version.name, at.child('name')),
    ...deprecationWarningErrors(version, at.child('deprecationWarning')),
    ...schemaErrors(version.schema?.openAPIV3Schema, at.child('schema'), {
      ...rules,
      statusSubresource: status !== undefined,
    }),
    ...subresourceErrors(version.subresources, at.child('subresources')),
    ...(version.additionalPrinterColumns ?? []).flatMap((column, index) =>
      columnErrors(column, at.child('additionalPrinterColumns').index(index)),
    ),
  ];
}

const perVersion = [
  ['validation', 'schema', 'schemas'],
  ['subresources', 'subresources', 'subresources'],
  ['additionalPrinterColumns', 'additionalPrinterColumns', 'additionalPrinterColumns'],
] as const;

/** What stands at the top stands in no version, and what all versions have alike stands at the top. */
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
  at: FieldPath,
): FieldError[] {
  return subresources?.scale ? scaleErrors(subresources.scale, at.child('scale')) : [];
}
