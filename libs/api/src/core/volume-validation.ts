/**
 * Rules of a pod's volumes: names, and exactly one source each. A second source is refused as such and
 * not looked into.
 */
import {
  checkDns1123Label,
  type FieldError,
  type FieldPath,
  fieldError,
  subdomainName,
} from '@orch/apimachinery';
import type { Volume } from '@orch/types/core/v1';
import { checkRequired, invalidEach } from '../shared/rules.js';
import { validateEphemeralVolume } from './ephemeral-volume-validation.js';
import {
  validateConfigMapSource,
  validateDownwardSource,
  validateProjected,
  validateSecretSource,
} from './file-volume-sources.js';
import * as sources from './volume-sources.js';

type SourceName = Exclude<keyof Volume, 'name'>;
type SourceRule<N extends SourceName> = (
  source: NonNullable<Volume[N]>,
  at: FieldPath,
) => FieldError[];

interface SourceEntry {
  readonly field: SourceName;
  /** Name in errors, where it differs. */
  readonly shownAs: string;
  readonly validate: (volume: Volume, at: FieldPath) => FieldError[];
}

function source<N extends SourceName>(
  field: N,
  rule: SourceRule<N>,
  shownAs: string = field,
): SourceEntry {
  return {
    field,
    shownAs,
    validate: (volume, at) => {
      const value = volume[field];
      return value === undefined || value === null ? [] : rule(value, at);
    },
  };
}

/** A source of which no more is asked than that some fields are there. */
function requires(field: SourceName, fields: readonly string[], shownAs?: string): SourceEntry {
  return source(
    field,
    (value, at) => sources.requireFields(value as Readonly<Record<string, unknown>>, fields, at),
    shownAs,
  );
}

/** In the order in which they are looked at. */
const sourceEntries: readonly SourceEntry[] = [
  source('emptyDir', sources.validateEmptyDir),
  source('hostPath', sources.validateHostPath),
  source('gitRepo', sources.validateGitRepo),
  source('gcePersistentDisk', sources.validatePersistentDisk, 'persistentDisk'),
  source('awsElasticBlockStore', sources.validateElasticBlockStore),
  source('secret', validateSecretSource),
  source('nfs', sources.validateNfs),
  source('iscsi', sources.validateIscsi),
  requires('glusterfs', ['endpoints', 'path']),
  source('flocker', sources.validateFlocker),
  requires('persistentVolumeClaim', ['claimName']),
  requires('rbd', ['monitors', 'image']),
  source('cinder', (value, at) => [
    ...sources.requireFields(value, ['volumeID'], at),
    ...(value.secretRef && !value.secretRef.name
      ? [fieldError.required(at.child('secretRef', 'name'))]
      : []),
  ]),
  requires('cephfs', ['monitors'], 'cephFS'),
  source('quobyte', sources.validateQuobyte),
  source('downwardAPI', validateDownwardSource, 'downwarAPI'),
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

/** `podName`: of the pod when it is known; claims are named after it. */
export function validateVolumes(
  volumes: readonly Volume[] | undefined,
  podName: string,
  at: FieldPath,
): FieldError[] {
  const errors: FieldError[] = [];
  const names = new Set<string>();
  const generated = new Map<string, string>();
  for (const [index, volume] of (volumes ?? []).entries()) {
    const field = at.index(index);
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
        at.index(index).child('persistentVolumeClaim', 'claimName'),
        claim,
        'must not reference a PVC that gets created for an ephemeral volume',
      ),
    );
  }
  return errors;
}

function validateSource(volume: Volume, podName: string, at: FieldPath): FieldError[] {
  const errors: FieldError[] = [];
  let sourceCount = 0;
  for (const entry of sourceEntries) {
    const value = volume[entry.field];
    if (value === undefined || value === null) continue;
    if (sourceCount > 0) {
      errors.push(
        fieldError.forbidden(at.child(entry.shownAs), 'may not specify more than 1 volume type'),
      );
      continue;
    }
    sourceCount += 1;
    errors.push(...entry.validate(volume, at.child(entry.shownAs)));
  }
  if (sourceCount === 0) errors.push(fieldError.required(at, 'must specify a volume type'));
  errors.push(...validatePortal(volume, at), ...validateClaimName(volume, podName, at));
  return errors;
}

/** The name of a volume with an initiator becomes part of a name of limited length. */
function validatePortal(volume: Volume, at: FieldPath): FieldError[] {
  const { iscsi } = volume;
  if (iscsi?.initiatorName === undefined) return [];
  const joined = `${volume.name}:${iscsi.targetPortal}`;
  return joined.length > initiatorPortalLengthMax
    ? [
        fieldError.invalid(
          at.child('name'),
          volume.name,
          `Total length of <volume name>:<iscsi.targetPortal> must be under ${initiatorPortalLengthMax} characters if iscsi.initiatorName is specified.`,
        ),
      ]
    : [];
}

function validateClaimName(volume: Volume, podName: string, at: FieldPath): FieldError[] {
  if (!volume.ephemeral || podName === '') return [];
  const name = `${podName}-${volume.name}`;
  return subdomainName(name, false).flatMap((message) =>
    invalidEach(at.child('name'), volume.name, [`PVC name "${name}": ${message}`]),
  );
}
