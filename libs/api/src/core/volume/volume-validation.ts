/**
 * Validates the volumes of a pod: names, and exactly one source each. A second source is rejected
 * without further checks.
 */
import {
  checkDns1123Label,
  type FieldError,
  type FieldPath,
  fieldError,
  subdomainName,
} from '@orch/apimachinery';
import type { Volume } from '@orch/types/core/v1';
import { checkRequired, invalidEach } from '../../shared/rules.js';
import { validateEphemeralVolume } from './ephemeral-volume-validation.js';
import {
  validateConfigMapSource,
  validateDownwardSource,
  validateProjected,
  validateSecretSource,
} from './file-volume-sources.js';
import { type SourceRule, sourceRules, validateOneSource } from './source-rules.js';
import * as sources from './volume-sources.js';

const { source, requires } = sourceRules<Volume>();

/** In validation order. */
const rules: readonly SourceRule<Volume>[] = [
  source('emptyDir', sources.validateEmptyDir),
  source('hostPath', sources.validateHostPath),
  source('gitRepo', sources.validateGitRepo),
  source('gcePersistentDisk', sources.validatePersistentDisk, { errorName: 'persistentDisk' }),
  source('awsElasticBlockStore', sources.validateElasticBlockStore),
  source('secret', validateSecretSource),
  source('nfs', sources.validateNfs),
  source('iscsi', sources.validateIscsi),
  requires('glusterfs', ['endpoints', 'path']),
  source('flocker', sources.validateFlocker),
  requires('persistentVolumeClaim', ['claimName']),
  requires('rbd', ['monitors', 'image']),
  source('cinder', (value, fieldPath) => [
    ...sources.requireFields(value, ['volumeID'], fieldPath),
    ...(value.secretRef && !value.secretRef.name
      ? [fieldError.required(fieldPath.child('secretRef', 'name'))]
      : []),
  ]),
  requires('cephfs', ['monitors'], { repeatedName: 'cephFS' }),
  source('quobyte', sources.validateQuobyte),
  source('downwardAPI', validateDownwardSource, { repeatedName: 'downwarAPI' }),
  source('fc', sources.validateFc),
  source('flexVolume', sources.validateFlexVolume),
  source('configMap', validateConfigMapSource),
  requires('azureFile', ['secretName', 'shareName']),
  requires('vsphereVolume', ['volumePath']),
  requires('photonPersistentDisk', ['pdID']),
  requires('portworxVolume', ['volumeID']),
  source('azureDisk', sources.validateAzureDisk),
  source('storageos', sources.validateStorageOs),
  source('projected', validateProjected),
  requires('scaleIO', ['gateway', 'system', 'volumeName']),
  source('csi', sources.validateCsi),
  source('ephemeral', validateEphemeralVolume),
];

const initiatorPortalLengthMax = 64;

/** `podName`: the name of the pod, if known; ephemeral claims are named after it. */
export function validateVolumes(
  volumes: readonly Volume[] | undefined,
  podName: string,
  fieldPath: FieldPath,
): FieldError[] {
  const errors: FieldError[] = [];
  const names = new Set<string>();
  const generated = new Map<string, string>();
  for (const [index, volume] of (volumes ?? []).entries()) {
    const field = fieldPath.index(index);
    const found = validateSource(volume, podName, field);
    if (volume.name && names.has(volume.name)) {
      found.push(fieldError.duplicate(field.child('name'), volume.name));
    } else found.push(...checkRequired(volume.name, field.child('name'), checkDns1123Label));
    if (found.length === 0) names.add(volume.name);
    errors.push(...found);
    if (volume.ephemeral && podName) generated.set(`${podName}-${volume.name}`, volume.name);
  }
  for (const [index, volume] of (volumes ?? []).entries()) {
    const claim = volume.persistentVolumeClaim?.claimName;
    const owner = claim === undefined ? undefined : generated.get(claim);
    if (owner === undefined) continue;
    errors.push(
      fieldError.invalid(
        fieldPath.index(index).child('persistentVolumeClaim', 'claimName'),
        claim,
        'must not reference a PVC that gets created for an ephemeral volume',
      ),
    );
  }
  return errors;
}

function validateSource(volume: Volume, podName: string, fieldPath: FieldPath): FieldError[] {
  return [
    ...validateOneSource(rules, volume, fieldPath, volume.name),
    ...validatePortal(volume, fieldPath),
    ...validateClaimName(volume, podName, fieldPath),
  ];
}

/** For a volume with an initiator, the name becomes part of a name of limited length. */
function validatePortal(volume: Volume, fieldPath: FieldPath): FieldError[] {
  const { iscsi } = volume;
  if (iscsi?.initiatorName === undefined) return [];
  const joined = `${volume.name}:${iscsi.targetPortal}`;
  return joined.length > initiatorPortalLengthMax
    ? [
        fieldError.invalid(
          fieldPath.child('name'),
          volume.name,
          `Total length of <volume name>:<iscsi.targetPortal> must be under ${initiatorPortalLengthMax} characters if iscsi.initiatorName is specified.`,
        ),
      ]
    : [];
}

function validateClaimName(volume: Volume, podName: string, fieldPath: FieldPath): FieldError[] {
  if (!volume.ephemeral || podName === '') return [];
  const name = `${podName}-${volume.name}`;
  return subdomainName(name, false).flatMap((message) =>
    invalidEach(fieldPath.child('name'), volume.name, [`PVC name "${name}": ${message}`]),
  );
}
