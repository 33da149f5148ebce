/**
 * Validates the sources of persistent volumes: exactly one each; a second one is rejected without
 * further checks.
 */
import { checkDns1123Label, type FieldError, type FieldPath, fieldError } from '@orch/apimachinery';
import type {
  CSIPersistentVolumeSource,
  ISCSIPersistentVolumeSource,
  PersistentVolumeSpec,
} from '@orch/types/core/v1';
import { invalidEach } from '../../shared/rules.js';
import { validateNoBacksteps } from '../common/path-rules.js';
import { type SourceRule, sourceRules, validateOneSource } from './source-rules.js';
import * as sources from './volume-sources.js';

const { source, requires } = sourceRules<PersistentVolumeSpec>();

interface SecretReference {
  readonly name?: string;
  readonly namespace?: string;
}

/** A secret reference needs a namespace, because it may be in another one. */
function requireSecret(
  secret: SecretReference | undefined,
  fields: readonly (keyof SecretReference)[],
  fieldPath: FieldPath,
): FieldError[] {
  return secret ? sources.requireFields(secret, fields, fieldPath.child('secretRef')) : [];
}

/** In validation order. */
const rules: readonly SourceRule<PersistentVolumeSpec>[] = [
  source('hostPath', sources.validateHostPath),
  source('gcePersistentDisk', sources.validatePersistentDisk, { errorName: 'persistentDisk' }),
  source('awsElasticBlockStore', sources.validateElasticBlockStore),
  source('glusterfs', (value, fieldPath) => [
    ...sources.requireFields(value, ['endpoints', 'path'], fieldPath),
    ...(value.endpointsNamespace === undefined
      ? []
      : invalidEach(
          fieldPath.child('endpointsNamespace'),
          value.endpointsNamespace,
          checkDns1123Label(value.endpointsNamespace),
        )),
  ]),
  source('flocker', sources.validateFlocker),
  source('nfs', sources.validateNfs),
  requires('rbd', ['monitors', 'image']),
  source('quobyte', sources.validateQuobyte),
  requires('cephfs', ['monitors'], { repeatedName: 'cephFS' }),
  source('iscsi', validateIscsi),
  source('cinder', (value, fieldPath) => [
    ...sources.requireFields(value, ['volumeID'], fieldPath),
    ...requireSecret(value.secretRef, ['name', 'namespace'], fieldPath),
  ]),
  source('fc', sources.validateFc),
  source('flexVolume', sources.validateFlexVolume, { repeatedName: undefined }),
  source('azureFile', (value, fieldPath) => [
    ...sources.requireFields(value, ['secretName', 'shareName'], fieldPath),
    ...(value.secretNamespace === ''
      ? [fieldError.required(fieldPath.child('secretNamespace'))]
      : []),
  ]),
  requires('vsphereVolume', ['volumePath']),
  requires('photonPersistentDisk', ['pdID']),
  requires('portworxVolume', ['volumeID']),
  source('azureDisk', sources.validateAzureDisk),
  requires('scaleIO', ['gateway', 'system', 'volumeName']),
  source('local', ({ path }, fieldPath) =>
    path
      ? validateNoBacksteps(path, fieldPath.child('path'))
      : [fieldError.required(fieldPath.child('path'))],
  ),
  source('storageos', (value, fieldPath) => [
    ...sources.validateStorageOs(value, fieldPath),
    ...requireSecret(value.secretRef, ['namespace'], fieldPath),
  ]),
  source('csi', validateCsi),
];

const portalLengthMax = 64;

/** The volume name becomes part of a name of limited length. */
function validateIscsi(
  value: ISCSIPersistentVolumeSource,
  fieldPath: FieldPath,
  volumeName: string,
): FieldError[] {
  const errors: FieldError[] = [];
  const portal = value.targetPortal ?? '';
  if (value.initiatorName !== undefined && `${volumeName}:${portal}`.length > portalLengthMax) {
    errors.push(
      fieldError.invalid(
        fieldPath.child('targetportal'),
        portal,
        `Total length of <volume name>:<iscsi.targetPortal> must be under ${portalLengthMax} characters if iscsi.initiatorName is specified.`,
      ),
    );
  }
  return [
    ...sources.validateIscsi(value, fieldPath),
    ...requireSecret(value.secretRef, ['name'], fieldPath),
    ...errors,
  ];
}

function validateCsi(value: CSIPersistentVolumeSource, fieldPath: FieldPath): FieldError[] {
  return [
    ...sources.validateDriverName(value.driver, fieldPath.child('driver')),
    ...sources.requireFields(value, ['volumeHandle'], fieldPath),
    ...validateCsiSecret(value.controllerPublishSecretRef, 'controllerPublishSecretRef', fieldPath),
    ...validateCsiSecret(value.controllerExpandSecretRef, 'controllerExpandSecretRef', fieldPath),
    // The space is part of the upstream name.
    ...validateCsiSecret(value.nodePublishSecretRef, 'nodePublishSecretRef ', fieldPath),
  ];
}

/** Format errors do not name the reference. */
function validateCsiSecret(
  secret: SecretReference | undefined,
  referenceField: string,
  fieldPath: FieldPath,
): FieldError[] {
  if (!secret) return [];
  return (['name', 'namespace'] as const).flatMap((field) => {
    const value = secret[field];
    return value
      ? invalidEach(fieldPath.child(field), value, checkDns1123Label(value))
      : [fieldError.required(fieldPath.child(referenceField, field))];
  });
}

export function validateSource(
  spec: PersistentVolumeSpec,
  volumeName: string,
  fieldPath: FieldPath,
): FieldError[] {
  return validateOneSource(rules, spec, fieldPath, volumeName);
}

/** The source that is validated: the first one. */
export function validatedSource(
  spec: PersistentVolumeSpec,
): keyof PersistentVolumeSpec | undefined {
  return rules.find(({ field }) => spec[field] !== undefined)?.field;
}

/** The part of the spec that describes the storage. */
export function sourceOf(spec: PersistentVolumeSpec): Partial<PersistentVolumeSpec> {
  return Object.fromEntries(rules.map(({ field }) => [field, spec[field]]));
}
