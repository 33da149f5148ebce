/** Validates a CustomResourceDefinition in its hub version, with the paths of that version. */
import {
  checkDns1123Subdomain,
  conditionOf,
  deepEqual,
  type FieldError,
  type FieldPath,
  fieldError,
  immutable,
  path,
  subdomainName,
} from '@orch/apimachinery';
import { dialect } from '@orch/component';
import type {
  CustomResourceDefinition,
  CustomResourceDefinitionSpec,
  CustomResourceDefinitionStatus,
  JSONSchemaProps,
} from '@orch/types/apiextensions/v1beta1';
import type { StrategyContext } from '../definition.js';
import { columnErrors, hasDefaults, schemaErrors, schemaRules } from '../schema/index.js';
import { checkRequiredOneOf } from '../shared/rules.js';
import { approvalErrors } from './approval.js';
import { conversionErrors } from './conversion-rules.js';
import { namesErrors, requiredNames } from './name-rules.js';
import { subresourceErrors, versionErrors } from './version-rules.js';

const spec = path('spec');
type Version = 'v1' | 'v1beta1';

export function createErrors(
  object: CustomResourceDefinition,
  context: StrategyContext,
): FieldError[] {
  return definitionErrors(object, undefined, versionOf(context));
}

/** The name is that of the resource. */
export function validateDefinitionName(
  name: string,
  prefix: boolean,
  { spec: own }: CustomResourceDefinition,
): readonly string[] {
  const messages = subdomainName(name, prefix);
  return name === `${own.names?.plural ?? ''}.${own.group}`
    ? messages
    : [...messages, 'must be spec.names.plural+"."+spec.group'];
}

export function updateErrors(
  object: CustomResourceDefinition,
  old: CustomResourceDefinition,
  context: StrategyContext,
): FieldError[] {
  return definitionErrors(object, old, versionOf(context));
}

function versionOf({ requestVersion }: StrategyContext): Version {
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
  return [validation, ...versions.map(({ schema }) => schema)].flatMap((entry) =>
    entry?.openAPIV3Schema ? [entry.openAPIV3Schema] : [],
  );
}

function groupErrors(group = ''): FieldError[] {
  const fieldPath = spec.child('group');
  if (group === '') return [fieldError.required(fieldPath)];
  const messages = checkDns1123Subdomain(group);
  if (messages.length > 0) return [fieldError.invalid(fieldPath, group, messages.join(','))];
  if (!group.includes('.')) {
    return [fieldError.invalid(fieldPath, group, 'should be a domain with at least one dot')];
  }
  // Group heads with a dot: their objects are stored under the head.
  if (dialect().group(group) !== group) {
    return [fieldError.invalid(fieldPath, group, 'is what a group of the system is stored under')];
  }
  return [];
}

/** Every version must have a schema, or all must share one. */
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
    const fieldPath = spec.child('versions').index(index).child('schema', 'openAPIV3Schema');
    const why = always ? 'schemas are required' : 'because otherwise all fields are pruned';
    return [fieldError.required(fieldPath, why)];
  });
}

/**
 * Names that are part of storage keys are immutable; scope and kind become immutable once the
 * definition is established.
 */
function immutableErrors(
  { spec: own }: CustomResourceDefinition,
  old: CustomResourceDefinition,
): FieldError[] {
  const was = old.spec;
  const isEstablished = conditionOf(old.status?.conditions, 'Established')?.status === 'True';
  const names = spec.child('names');
  const same = (value: unknown, before: unknown, fieldPath: FieldPath) =>
    deepEqual(value, before) ? [] : [immutable(fieldPath, value)];
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

/** Stored versions must be versions of the definition. */
function storedVersionErrors({ spec: own, status }: CustomResourceDefinition): FieldError[] {
  const stored = status?.storedVersions ?? [];
  const fieldPath = path('status', 'storedVersions');
  if (stored.length === 0) {
    return [fieldError.invalid(fieldPath, stored, 'must have at least one stored version')];
  }
  const versions = own.versions ?? [];
  const missing = new Map(stored.map((name, index) => [name, index]));
  const errors: FieldError[] = [];
  for (const version of versions) {
    // Each stored version counts for one version: names must not repeat.
    if (!missing.delete(version.name) && version.storage) {
      const detail = `must have the storage version ${version.name}`;
      errors.push(fieldError.invalid(fieldPath, version, detail));
    }
  }
  for (const [name, index] of missing) {
    const detail = 'must appear in spec.versions';
    errors.push(fieldError.invalid(fieldPath.index(index), name, detail));
  }
  return errors;
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
