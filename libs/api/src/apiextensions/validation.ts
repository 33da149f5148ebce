/** Rules of a CustomResourceDefinition, in the shape and with the paths of its hub version. */
import {
  checkDns1035Label,
  checkDns1123Subdomain,
  conditionOf,
  deepEqual,
  type FieldError,
  type FieldPath,
  fieldError,
  immutable,
  path,
} from '@orch/apimachinery';
import { dialect } from '@orch/component';
import type {
  CustomResourceDefinition,
  CustomResourceDefinitionNames,
  CustomResourceDefinitionSpec,
  CustomResourceDefinitionStatus,
  CustomResourceDefinitionVersion,
  CustomResourceSubresources,
  JSONSchemaProps,
} from '@orch/types/apiextensions/v1beta1';
import type { RequestContext } from '../definition.js';
import { checkRequiredOneOf, invalidEach } from '../shared/rules.js';
import { approvalErrors } from './approval.js';
import { conversionErrors } from './conversion-rules.js';
import { deprecationWarningErrors } from './deprecation-warning.js';
import {
  columnErrors,
  hasDefaults,
  type SchemaRules,
  scaleErrors,
  schemaErrors,
  schemaRules,
} from './schema/index.js';

const spec = path('spec');
type Version = 'v1' | 'v1beta1';

export function createErrors(
  object: CustomResourceDefinition,
  context: RequestContext,
): FieldError[] {
  const version = versionOf(context);
  const { plural = '' } = object.spec.names ?? {};
  const name = object.metadata?.name ?? '';
  return [
    ...(name === `${plural}.${object.spec.group}`
      ? []
      : [fieldError.invalid('metadata.name', name, 'must be spec.names.plural+"."+spec.group')]),
    ...definitionErrors(object, undefined, version),
  ];
}

export function updateErrors(
  object: CustomResourceDefinition,
  old: CustomResourceDefinition,
  context: RequestContext,
): FieldError[] {
  return definitionErrors(object, old, versionOf(context));
}

function versionOf({ requestVersion }: RequestContext): Version {
  return requestVersion?.version === 'v1beta1' ? 'v1beta1' : 'v1';
}

function definitionErrors(
  object: CustomResourceDefinition,
  old: CustomResourceDefinition | undefined,
  version: Version,
): FieldError[] {
  return [
    ...specErrors(object.spec, old?.spec, version),
    ...(old ? immutableErrors(object, old) : []),
    ...statusErrors(object.status),
    ...storedVersionErrors(object),
    ...approvalErrors(object, old, version),
    ...preserveErrors(object, old, version),
  ];
}

function specErrors(
  own: CustomResourceDefinitionSpec,
  old: CustomResourceDefinitionSpec | undefined,
  version: Version,
): FieldError[] {
  const keepsUnknown = own.preserveUnknownFields ?? true;
  const rules = schemaRules(version, own, old);
  const errors = [
    ...groupErrors(own.group),
    ...checkRequiredOneOf(own.scope, ['Cluster', 'Namespaced'], spec.child('scope')),
    ...missingSchemaErrors(own, old, version),
  ];
  if (keepsUnknown && rules.allowDefaults && schemasOf(own).some(hasDefaults)) {
    errors.push(
      fieldError.invalid(
        spec.child('preserveUnknownFields'),
        true,
        'must be false in order to use defaults in the schema',
      ),
    );
  }
  errors.push(
    ...versionErrors(own, rules),
    ...requiredNames(own.names),
    ...namesErrors(own.names, spec.child('names')),
    ...schemaErrors(own.validation?.openAPIV3Schema, spec.child('validation'), {
      ...rules,
      statusSubresource:
        own.subresources?.status !== undefined ||
        (own.versions ?? []).some(({ subresources }) => subresources?.status !== undefined),
    }),
    ...subresourceErrors(own.subresources, spec.child('subresources')),
    ...(own.additionalPrinterColumns ?? []).flatMap((column, index) =>
      columnErrors(column, spec.child('additionalPrinterColumns').index(index)),
    ),
    ...conversionErrors(own, old, spec.child('conversion')),
  );
  return errors;
}

function subresourceErrors(
  subresources: CustomResourceSubresources | undefined,
  at: FieldPath,
): FieldError[] {
  return subresources?.scale ? scaleErrors(subresources.scale, at.child('scale')) : [];
}

function schemasOf({ validation, versions = [] }: CustomResourceDefinitionSpec): JSONSchemaProps[] {
  return [validation, ...versions.map(({ schema }) => schema)].flatMap((one) =>
    one?.openAPIV3Schema ? [one.openAPIV3Schema] : [],
  );
}

function groupErrors(group = ''): FieldError[] {
  const at = spec.child('group');
  if (group === '') return [fieldError.required(at)];
  const messages = checkDns1123Subdomain(group);
  if (messages.length > 0) return [fieldError.invalid(at, group, messages.join(','))];
  if (!group.includes('.')) {
    return [fieldError.invalid(at, group, 'should be a domain with at least one dot')];
  }
  // Heads of groups with a dot: their objects are stored under it.
  if (dialect().group(group) !== group) {
    return [fieldError.invalid(at, group, 'is what a group of the system is stored under')];
  }
  return [];
}

/** Every version has a schema, or all share one. */
function missingSchemaErrors(
  own: CustomResourceDefinitionSpec,
  old: CustomResourceDefinitionSpec | undefined,
  version: Version,
): FieldError[] {
  if (own.validation?.openAPIV3Schema) return [];
  const versions = own.versions ?? [];
  const oldHasAll =
    !old ||
    old.validation?.openAPIV3Schema !== undefined ||
    (old.versions ?? []).every(({ schema }) => schema?.openAPIV3Schema !== undefined);
  const always = version === 'v1' && oldHasAll;
  if (!always && (own.preserveUnknownFields ?? true)) return [];
  return versions.flatMap(({ served, schema }, index) => {
    if (schema?.openAPIV3Schema || !(always || served)) return [];
    const at = spec.child('versions').index(index).child('schema', 'openAPIV3Schema');
    const why = always ? 'schemas are required' : 'because otherwise all fields are pruned';
    return [fieldError.required(at, why)];
  });
}

function versionErrors(own: CustomResourceDefinitionSpec, rules: SchemaRules): FieldError[] {
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

function requiredNames(names: CustomResourceDefinitionNames | undefined): FieldError[] {
  return (['plural', 'singular', 'kind', 'listKind'] as const)
    .filter((field) => !names?.[field])
    .map((field) => fieldError.required(spec.child('names', field)));
}

export function namesErrors(
  names: CustomResourceDefinitionNames | undefined,
  at: FieldPath,
): FieldError[] {
  const { plural, singular, kind, listKind, shortNames = [], categories = [] } = names ?? {};
  return [
    ...(plural ? labelErrors(plural, at.child('plural')) : []),
    ...(singular ? labelErrors(singular, at.child('singular')) : []),
    ...kindErrors(kind, at.child('kind')),
    ...kindErrors(listKind, at.child('listKind')),
    ...shortNames.flatMap((name, index) => labelErrors(name, at.child('shortNames').index(index))),
    ...(kind && kind === listKind
      ? [
          fieldError.invalid(
            at.child('listKind'),
            listKind,
            'kind and listKind may not be the same',
          ),
        ]
      : []),
    ...categories.flatMap((name, index) => labelErrors(name, at.child('categories').index(index))),
  ];
}

function labelErrors(value: string, at: FieldPath): FieldError[] {
  const messages = checkDns1035Label(value);
  return messages.length === 0 ? [] : [fieldError.invalid(at, value, messages.join(','))];
}

function kindErrors(kind: string | undefined, at: FieldPath): FieldError[] {
  if (!kind) return [];
  const messages = checkDns1035Label(kind.toLowerCase());
  return invalidEach(
    at,
    kind,
    messages.length === 0
      ? []
      : [`may have mixed case, but should otherwise match: ${messages.join(',')}`],
  );
}

/** What objects are stored under cannot change; scope and kind once there may be some. */
function immutableErrors(
  { spec: own }: CustomResourceDefinition,
  old: CustomResourceDefinition,
): FieldError[] {
  const was = old.spec;
  const isEstablished = conditionOf(old.status?.conditions, 'Established')?.status === 'True';
  const names = spec.child('names');
  const same = (value: unknown, before: unknown, at: FieldPath) =>
    deepEqual(value, before) ? [] : [immutable(at, value)];
  return [
    ...(isEstablished
      ? [
          ...same(own.scope, was.scope, spec.child('scope')),
          ...same(own.names.kind, was.names.kind, names.child('kind')),
        ]
      : []),
    ...same(own.group, was.group, spec.child('group')),
    ...same(own.names.plural, was.names.plural, names.child('plural')),
  ];
}

export function statusErrors(status: CustomResourceDefinitionStatus | undefined): FieldError[] {
  return namesErrors(status?.acceptedNames, path('status', 'acceptedNames'));
}

/** Versions that objects may be stored in are versions of the definition. */
function storedVersionErrors({ spec: own, status }: CustomResourceDefinition): FieldError[] {
  const stored = status?.storedVersions ?? [];
  const at = path('status', 'storedVersions');
  if (stored.length === 0) {
    return [fieldError.invalid(at, stored, 'must have at least one stored version')];
  }
  const versions = own.versions ?? [];
  return [
    ...versions
      .filter(({ name, storage }) => storage && !stored.includes(name))
      .map((version) =>
        fieldError.invalid(at, version, `must have the storage version ${version.name}`),
      ),
    ...stored.flatMap((name, index) =>
      versions.some((version) => version.name === name)
        ? []
        : [fieldError.invalid(at.index(index), name, 'must appear in spec.versions')],
    ),
  ];
}

function preserveErrors(
  { spec: own }: CustomResourceDefinition,
  old: CustomResourceDefinition | undefined,
  version: Version,
): FieldError[] {
  if (version === 'v1beta1' || !own.preserveUnknownFields) return [];
  if (old?.spec.preserveUnknownFields) return [];
  return [
    fieldError.invalid(
      spec.child('preserveUnknownFields'),
      true,
      'cannot set to true, set x-preserve-unknown-fields to true in spec.versions[*].schema instead',
    ),
  ];
}
