/** PodSecurityPolicy: which host features and privileges pods may use. */
import {
  checkDns1123Subdomain,
  enumValues,
  type FieldError,
  type FieldPath,
  fieldError,
  path,
} from '@orch/apimachinery';
import { dialect } from '@orch/component';
import type {
  AllowedHostPath,
  PodSecurityPolicy,
  PodSecurityPolicySpec,
  RuntimeClassStrategyOptions,
} from '@orch/types/policy/v1beta1';
import { validateNoBacksteps } from '../core/common/path-rules.js';
import { checkAppArmorProfile, validateSeccompProfile } from '../core/pod/pod-annotations.js';
import { validateDriverName } from '../core/volume/volume-sources.js';
import { define, type TableColumn } from '../definition.js';
import { nameColumn } from '../shared/columns.js';
import { checkOneOf, invalidEach } from '../shared/rules.js';
import { validateNoOverlap, validateSysctls } from './allowed-sysctls.js';
import { validateStrategies } from './policy-strategies.js';

const anything = '*';

function validatePolicy(object: PodSecurityPolicy): FieldError[] {
  const { metadata, spec = {} as PodSecurityPolicySpec } = object;
  const fieldPath = path('spec');
  return [
    ...validateProfiles(metadata?.annotations ?? {}, path('metadata', 'annotations')),
    ...validateStrategies(spec, fieldPath),
    ...validateVolumes(spec.volumes, fieldPath.child('volumes')),
    ...validateCapabilities(spec),
    ...validateEscalation(spec, fieldPath.child('defaultAllowPrivilegeEscalation')),
    ...validateAllowed(spec, fieldPath),
    ...validateSysctls(spec.allowedUnsafeSysctls, fieldPath.child('allowedUnsafeSysctls')),
    ...validateSysctls(spec.forbiddenSysctls, fieldPath.child('forbiddenSysctls')),
    ...validateNoOverlap(
      spec.allowedUnsafeSysctls,
      spec.forbiddenSysctls,
      fieldPath.child('allowedUnsafeSysctls'),
    ),
    ...validateRuntimeClasses(spec.runtimeClass, fieldPath.child('runtimeClass')),
    ...validateProcMounts(spec.allowedProcMountTypes, fieldPath.child('allowedProcMountTypes')),
  ];
}

/** The default profile, and the list of allowed profiles. */
function validateProfiles(
  annotations: Readonly<Record<string, string>>,
  fieldPath: FieldPath,
): FieldError[] {
  const errors: FieldError[] = [];
  for (const name of ['defaultProfileName', 'allowedProfileNames']) {
    const key = dialect().key(name, 'apparmor.security.beta');
    const profiles = annotations[key] ?? '';
    for (const profile of name === 'defaultProfileName' ? [profiles] : profiles.split(',')) {
      errors.push(...invalidEach(fieldPath.key(key), profiles, checkAppArmorProfile(profile)));
    }
  }
  const defaultKey = dialect().key('defaultProfileName', 'seccomp.security.alpha');
  const allowedKey = dialect().key('allowedProfileNames', 'seccomp.security.alpha');
  const profile = annotations[defaultKey];
  if (profile) errors.push(...validateSeccompProfile(profile, fieldPath.key(defaultKey)));
  for (const allowed of annotations[allowedKey]?.split(',') ?? []) {
    if (annotations[allowedKey] === '' || allowed === anything) continue;
    errors.push(...validateSeccompProfile(allowed, fieldPath.key(allowedKey)));
  }
  return errors;
}

function validateProcMounts(types: readonly string[] = [], fieldPath: FieldPath): FieldError[] {
  return types.flatMap((type, index) =>
    checkOneOf(type, enumValues('core/v1', 'ProcMountType'), fieldPath.index(index)),
  );
}

function validateVolumes(volumes: readonly string[] = [], fieldPath: FieldPath): FieldError[] {
  const known = [...enumValues('policy/v1beta1', 'FSType')].sort();
  return volumes.flatMap((volume) => checkOneOf(volume, known, fieldPath));
}

/** Errors name these fields as if they were outside the spec. */
function validateCapabilities(spec: PodSecurityPolicySpec): FieldError[] {
  const { requiredDropCapabilities: drops = [], allowedCapabilities: allowed = [] } = spec;
  const errors: FieldError[] = [];
  if (drops.length > 0 && allowed.includes(anything)) {
    errors.push(
      fieldError.invalid(
        'requiredDropCapabilities',
        drops,
        'must be empty when all capabilities are allowed by a wildcard',
      ),
    );
  }
  for (const name of ['defaultAddCapabilities', 'allowedCapabilities'] as const) {
    for (const capability of spec[name] ?? []) {
      if (!drops.includes(capability)) continue;
      const message = `capability is listed in ${name} and requiredDropCapabilities`;
      errors.push(fieldError.invalid(name, capability, message));
    }
  }
  return errors;
}

function validateEscalation(spec: PodSecurityPolicySpec, fieldPath: FieldPath): FieldError[] {
  if (!spec.defaultAllowPrivilegeEscalation || spec.allowPrivilegeEscalation !== false) return [];
  const message =
    'Cannot set DefaultAllowPrivilegeEscalation to true without also setting AllowPrivilegeEscalation to true';
  return [fieldError.invalid(fieldPath, true, message)];
}

/** The first path without a prefix ends the check. */
function validateHostPaths(
  hostPaths: readonly AllowedHostPath[],
  fieldPath: FieldPath,
): FieldError[] {
  const errors: FieldError[] = [];
  for (const [index, { pathPrefix = '' }] of hostPaths.entries()) {
    const field = fieldPath.index(index);
    if (pathPrefix === '') return [...errors, fieldError.required(field, 'is required')];
    errors.push(...validateNoBacksteps(pathPrefix, field));
  }
  return errors;
}

/** Paths and drivers. */
function validateAllowed(spec: PodSecurityPolicySpec, fieldPath: FieldPath): FieldError[] {
  const { allowedHostPaths = [], allowedFlexVolumes = [], allowedCSIDrivers = [] } = spec;
  return [
    ...validateHostPaths(allowedHostPaths, fieldPath.child('allowedHostPaths')),
    ...allowedFlexVolumes.flatMap(({ driver }, index) => {
      const field = fieldPath.child('allowedFlexVolumes', 'allowedFlexVolumes').index(index);
      return driver ? [] : [fieldError.required(field.child('driver'), 'must specify a driver')];
    }),
    ...allowedCSIDrivers.flatMap(({ name }, index) => {
      const field = fieldPath.child('allowedCSIDrivers', 'allowedCSIDriver').index(index);
      return validateDriverName(name, field.child('name'));
    }),
  ];
}

function validateRuntimeClasses(
  strategy: RuntimeClassStrategyOptions | undefined,
  fieldPath: FieldPath,
): FieldError[] {
  const { allowedRuntimeClassNames: allowed = [], defaultRuntimeClassName } = strategy ?? {};
  const allowedAt = fieldPath.child('allowedRuntimeClassNames');
  const errors = allowed.flatMap((name, index) => [
    ...(name === anything
      ? []
      : invalidEach(allowedAt.index(index), name, checkDns1123Subdomain(name))),
    ...(allowed.indexOf(name) < index ? [fieldError.duplicate(allowedAt.index(index), name)] : []),
  ]);
  if (defaultRuntimeClassName !== undefined) {
    const messages = checkDns1123Subdomain(defaultRuntimeClassName);
    const field = fieldPath.child('defaultRuntimeClassName');
    errors.push(...invalidEach(field, defaultRuntimeClassName, messages));
    if (!allowed.includes(defaultRuntimeClassName) && !allowed.includes(anything)) {
      const message = `default "${defaultRuntimeClassName}" must be allowed`;
      errors.push(fieldError.required(allowedAt, message));
    }
  }
  if (allowed.includes(anything) && allowed.length > 1) {
    const message = "if '*' is present, must not specify other RuntimeClass names";
    errors.push(fieldError.invalid(allowedAt, allowed, message));
  }
  return errors;
}

const text = (
  name: string,
  description: string,
  cell: TableColumn<PodSecurityPolicy>['cell'],
): TableColumn<PodSecurityPolicy> => ({ name, type: 'string', description, cell });

const columns: readonly TableColumn<PodSecurityPolicy>[] = [
  nameColumn(),
  text('Priv', 'Whether pods may be privileged.', ({ spec }) => String(spec?.privileged ?? false)),
  text('Caps', 'Capabilities that pods may add.', ({ spec }) =>
    (spec?.allowedCapabilities ?? []).join(','),
  ),
  text('SELinux', 'How labels are chosen.', ({ spec }) => spec?.seLinux?.rule ?? ''),
  text('RunAsUser', 'How users are chosen.', ({ spec }) => spec?.runAsUser?.rule ?? ''),
  text('FsGroup', 'How groups of volumes are chosen.', ({ spec }) => spec?.fsGroup?.rule ?? ''),
  text(
    'SupGroup',
    'How further groups are chosen.',
    ({ spec }) => spec?.supplementalGroups?.rule ?? '',
  ),
  text(
    'ReadOnlyRootFs',
    'Whether root file systems are read-only.',
    ({ spec }) => spec?.readOnlyRootFilesystem ?? false,
  ),
  text('Volumes', 'Kinds of volumes that pods may have.', ({ spec }) =>
    (spec?.volumes ?? []).join(','),
  ),
];

export const podSecurityPolicy = define<PodSecurityPolicy>({
  plural: 'podsecuritypolicies',
  singular: '',
  kind: 'PodSecurityPolicy',
  shortNames: ['psp'],
  namespaced: false,
  versions: [
    {
      group: 'policy',
      version: 'v1beta1',
      deprecation: { since: '1.21', unavailableFrom: '1.25' },
    },
  ],
  stored: { group: 'policy', version: 'v1beta1' },
  errorGroup: 'extensions',
  deleteReturnsObject: true,
  gatedFields: [{ gate: 'ProcMountType', path: 'spec.allowedProcMountTypes' }],
  validate: validatePolicy,
  updateChecks: ['metadataUpdate', 'object'],
  columns,
});
