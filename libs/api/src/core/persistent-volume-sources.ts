/** Rules of the sources of persistent volumes: exactly one each; a second one is not looked into. */
import { checkDns1123Label, type FieldError, type FieldPath, fieldError } from '@orch/apimachinery';
import type {
  CSIPersistentVolumeSource,
  ISCSIPersistentVolumeSource,
  PersistentVolumeSpec,
} from '@orch/types/core/v1';
import { invalidEach } from '../shared/rules.js';
import { validateNoBacksteps } from './path-rules.js';
import * as sources from './volume-sources.js';

interface SourceEntry {
  readonly field: keyof PersistentVolumeSpec;
  /** Name in errors, where it differs. */
  readonly shownAs: string;
  readonly validate: (
    spec: PersistentVolumeSpec,
    at: FieldPath,
    volumeName: string,
  ) => readonly FieldError[];
}

function source<N extends keyof PersistentVolumeSpec>(
  field: N,
  rule: (
    source: NonNullable<PersistentVolumeSpec[N]>,
    at: FieldPath,
    volumeName: string,
  ) => readonly FieldError[],
  shownAs: string = field,
): SourceEntry {
  return {
    field,
    shownAs,
    validate: (spec, at, volumeName) => {
      const value = spec[field];
      return value === undefined || value === null ? [] : rule(value, at, volumeName);
    },
  };
}

/** A source of which no more is asked than that some fields are there. */
function requires(field: keyof PersistentVolumeSpec, fields: readonly string[], shownAs?: string) {
  return source(
    field,
    (value, at) => sources.requireFields(value as Readonly<Record<string, unknown>>, fields, at),
    shownAs,
  );
}

interface SecretReference {
  readonly name?: string;
  readonly namespace?: string;
}

/** A secret elsewhere is named with its namespace. */
function requireSecret(
  secret: SecretReference | undefined,
  fields: readonly (keyof SecretReference)[],
  at: FieldPath,
): FieldError[] {
  return secret ? sources.requireFields(secret, fields, at.child('secretRef')) : [];
}

/** In the order in which they are looked at. */
const sourceEntries: readonly SourceEntry[] = [
  source('hostPath', sources.validateHostPath),
  source('gcePersistentDisk', sources.validatePersistentDisk, 'persistentDisk'),
  source('awsElasticBlockStore', sources.validateElasticBlockStore),
  source('glusterfs', (value, at) => [
    ...sources.requireFields(value, ['endpoints', 'path'], at),
    ...(value.endpointsNamespace === undefined
      ? []
      : invalidEach(
          at.child('endpointsNamespace'),
          value.endpointsNamespace,
          checkDns1123Label(value.endpointsNamespace),
        )),
  ]),
  source('flocker', sources.validateFlocker),
  source('nfs', sources.validateNfs),
  requires('rbd', ['monitors', 'image']),
  source('quobyte', sources.validateQuobyte),
  requires('cephfs', ['monitors'], 'cephFS'),
  source('iscsi', validateIscsi),
  source('cinder', (value, at) => [
    ...sources.requireFields(value, ['volumeID'], at),
    ...requireSecret(value.secretRef, ['name', 'namespace'], at),
  ]),
  source('fc', sources.validateFc),
  source('flexVolume', sources.validateFlexVolume),
  source('azureFile', (value, at) => [
    ...sources.requireFields(value, ['secretName', 'shareName'], at),
    ...(value.secretNamespace === '' ? [fieldError.required(at.child('secretNamespace'))] : []),
  ]),
  requires('vsphereVolume', ['volumePath']),
  requires('photonPersistentDisk', ['pdID']),
  requires('portworxVolume', ['volumeID']),
  source('azureDisk', sources.validateAzureDisk),
  requires('scaleIO', ['gateway', 'system', 'volumeName']),
  source('local', ({ path }, at) =>
    path ? validateNoBacksteps(path, at.child('path')) : [fieldError.required(at.child('path'))],
  ),
  source('storageos', (value, at) => [
    ...sources.validateStorageOs(value, at),
    ...requireSecret(value.secretRef, ['namespace'], at),
  ]),
  source('csi', validateCsi),
];

const portalLengthMax = 64;

/** The name of the volume becomes part of a name of limited length. */
function validateIscsi(
  value: ISCSIPersistentVolumeSource,
  at: FieldPath,
  volumeName: string,
): FieldError[] {
  const errors: FieldError[] = [];
  const portal = value.targetPortal ?? '';
  if (value.initiatorName !== undefined && `${volumeName}:${portal}`.length > portalLengthMax) {
    errors.push(
      fieldError.invalid(
        at.child('targetportal'),
        portal,
        `Total length of <volume name>:<iscsi.targetPortal> must be under ${portalLengthMax} characters if iscsi.initiatorName is specified.`,
      ),
    );
  }
  return [
    ...sources.validateIscsi(value, at),
    ...requireSecret(value.secretRef, ['name'], at),
    ...errors,
  ];
}

function validateCsi(value: CSIPersistentVolumeSource, at: FieldPath): FieldError[] {
  return [
    ...sources.validateDriverName(value.driver, at.child('driver')),
    ...sources.requireFields(value, ['volumeHandle'], at),
    ...validateCsiSecret(value.controllerPublishSecretRef, 'controllerPublishSecretRef', at),
    ...validateCsiSecret(value.controllerExpandSecretRef, 'controllerExpandSecretRef', at),
    // The blank is part of the name that clients know.
    ...validateCsiSecret(value.nodePublishSecretRef, 'nodePublishSecretRef ', at),
  ];
}

/** Errors of formats name no reference. */
function validateCsiSecret(
  secret: SecretReference | undefined,
  shownAs: string,
  at: FieldPath,
): FieldError[] {
  if (!secret) return [];
  return (['name', 'namespace'] as const).flatMap((field) => {
    const value = secret[field];
    return value
      ? invalidEach(at.child(field), value, checkDns1123Label(value))
      : [fieldError.required(at.child(shownAs, field))];
  });
}

export function validateSource(
  spec: PersistentVolumeSpec,
  volumeName: string,
  at: FieldPath,
): FieldError[] {
  const given = sourceEntries.filter(
    ({ field }) => spec[field] !== undefined && spec[field] !== null,
  );
  const [first, ...others] = given;
  if (!first) return [fieldError.required(at, 'must specify a volume type')];
  return [
    ...first.validate(spec, at.child(first.shownAs), volumeName),
    ...others.map(({ shownAs }) =>
      fieldError.forbidden(at.child(shownAs), 'may not specify more than 1 volume type'),
    ),
  ];
}

/** The part of the spec that says where the storage is. */
export function sourceOf(spec: PersistentVolumeSpec): Partial<PersistentVolumeSpec> {
  return Object.fromEntries(sourceEntries.map(({ field }) => [field, spec[field]]));
}
