/** PodSecurityPolicy: what pods may ask of the machine they run on. */
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
  PodSecurityPolicy,
  PodSecurityPolicySpec,
  RuntimeClassStrategyOptions,
} from '@orch/types/policy/v1beta1';
import { validateNoBacksteps } from '../core/path-rules.js';
import { checkAppArmorProfile, validateSeccompProfile } from '../core/pod-annotations.js';
import { validateDriverName } from '../core/volume-sources.js';
import { define, type TableColumn } from '../definition.js';
import { nameColumn } from '../shared/columns.js';
import { checkOneOf, invalidEach } from '../shared/rules.js';
import { validateNoOverlap, validateSysctls } from './allowed-sysctls.js';
import { validateStrategies } from './policy-strategies.js';

const anything = '*';

function validatePolicy(object: PodSecurityPolicy): FieldError[] {
  const { metadata, spec = {} as PodSecurityPolicySpec } = object;
  const at = path('spec');
  return [
    ...validateProfiles(metadata?.annotations ?? {}, path('metadata', 'annotations')),
    ...validateStrategies(spec, at),
    ...validateVolumes(spec.volumes, at.child('volumes')),
    ...validateCapabilities(spec),
    ...validateEscalation(spec, at.child('defaultAllowPrivilegeEscalation')),
    ...validateAllowed(spec, at),
    ...validateSysctls(spec.allowedUnsafeSysctls, at.child('allowedUnsafeSysctls')),
    ...validateSysctls(spec.forbiddenSysctls, at.child('forbiddenSysctls')),
    ...validateNoOverlap(
      spec.allowedUnsafeSysctls,
      spec.forbiddenSysctls,
      at.child('allowedUnsafeSysctls'),
    ),
    ...validateRuntimeClasses(spec.runtimeClass, at.child('runtimeClass')),
  ];
}

/** One profile for pods that name none, and a list of those that pods may name. */
function validateProfiles(
  annotations: Readonly<Record<string, string>>,
  at: FieldPath,
): FieldError[] {
  const errors: FieldError[] = [];
  for (const name of ['defaultProfileName', 'allowedProfileNames']) {
    const key = dialect().key(name, 'apparmor.security.beta');
    const profiles = annotations[key] ?? '';
    for (const profile of name === 'defaultProfileName' ? [profiles] : profiles.split(',')) {
      errors.push(...invalidEach(at.key(key), profiles, checkAppArmorProfile(profile)));
    }
  }
  const defaultKey = dialect().key('defaultProfileName', 'seccomp.security.alpha');
  const allowedKey = dialect().key('allowedProfileNames', 'seccomp.security.alpha');
  const profile = annotations[defaultKey];
  if (profile) errors.push(...validateSeccompProfile(profile, at.key(defaultKey)));
  for (const allowed of annotations[allowedKey]?.split(',') ?? []) {
    if (annotations[allowedKey] === '' || allowed === anything) continue;
    errors.push(...validateSeccompProfile(allowed, at.key(allowedKey)));
  }
  return errors;
}

function validateVolumes(volumes: readonly string[] = [], at: FieldPath): FieldError[] {
  const known = [...enumValues('policy/v1beta1', 'FSType')].sort();
  return volumes.flatMap((volume) => checkOneOf(volume, known, at));
}

/** Errors name these fields as if they did not stand in the spec. */
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

function validateEscalation(spec: PodSecurityPolicySpec, at: FieldPath): FieldError[] {
  if (!spec.defaultAllowPrivilegeEscalation || spec.allowPrivilegeEscalation !== false) return [];
  const message =
    'Cannot set DefaultAllowPrivilegeEscalation to true without also setting AllowPrivilegeEscalation to true';
  return [fieldError.invalid(at, true, message)];
}

/** Paths and drivers. */
function validateAllowed(spec: PodSecurityPolicySpec, at: FieldPath): FieldError[] {
  const { allowedHostPaths = [], allowedFlexVolumes = [], allowedCSIDrivers = [] } = spec;
  return [
    ...allowedHostPaths.flatMap(({ pathPrefix = '' }, index) => {
      const field = at.child('allowedHostPaths').index(index);
      return pathPrefix === ''
        ? [fieldError.required(field, 'is required')]
        : validateNoBacksteps(pathPrefix, field);
    }),
    ...allowedFlexVolumes.flatMap(({ driver }, index) => {
      const field = at.child('allowedFlexVolumes', 'allowedFlexVolumes').index(index);
      return driver ? [] : [fieldError.required(field.child('driver'), 'must specify a driver')];
    }),
    ...allowedCSIDrivers.flatMap(({ name }, index) => {
      const field = at.child('allowedCSIDrivers', 'allowedCSIDriver').index(index);
      return validateDriverName(name, field.child('name'));
    }),
  ];
}

function validateRuntimeClasses(
  strategy: RuntimeClassStrategyOptions | undefined,
  at: FieldPath,
): FieldError[] {
  const { allowedRuntimeClassNames: allowed = [], defaultRuntimeClassName } = strategy ?? {};
  const allowedAt = at.child('allowedRuntimeClassNames');
  const errors = allowed.flatMap((name, index) => [
    ...(name === anything
      ? []
      : invalidEach(allowedAt.index(index), name, checkDns1123Subdomain(name))),
    ...(allowed.indexOf(name) < index ? [fieldError.duplicate(allowedAt.index(index), name)] : []),
  ]);
  if (defaultRuntimeClassName !== undefined) {
    const messages = checkDns1123Subdomain(defaultRuntimeClassName);
    const field = at.child('defaultRuntimeClassName');
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
  deleteReturnsObject: true,
  // There are no kinds of process mounts.
  gatedFields: [{ path: 'spec.allowedProcMountTypes' }],
  validate: validatePolicy,
  columns,
});
