/** Rules of a CustomResourceDefinition, in the shape and with the paths of its hub version. */
import {
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
  CustomResourceDefinitionSpec,
  CustomResourceDefinitionStatus,
  JSONSchemaProps,
} from '@orch/types/apiextensions/v1beta1';
import type { RequestContext } from '../definition.js';
import { checkRequiredOneOf } from '../shared/rules.js';
import { approvalErrors } from './approval.js';
import { conversionErrors } from './conversion-rules.js';
import { namesErrors, requiredNames } from './name-rules.js';
import { columnErrors, hasDefaults, schemaErrors, schemaRules } from './schema/index.js';
import { subresourceErrors, versionErrors } from './version-rules.js';

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
    ...requiredNames(own.names, spec.child('names')),
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
