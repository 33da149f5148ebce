/** Validates persistent volumes, also inline volumes of attachments. */
import { posix } from 'node:path';
import {
  checkDns1123Subdomain,
  type FieldError,
  type FieldPath,
  fieldError,
  immutable,
  Literal,
  path,
  Quantity,
  semanticallyEqual,
} from '@orch/apimachinery';
import type {
  PersistentVolume,
  PersistentVolumeSpec,
  VolumeNodeAffinity,
} from '@orch/types/core/v1';
import { checkOneOf, checkOptional } from '../../shared/rules.js';
import { structDiff } from '../../shared/struct-diff/struct-diff.js';
import { validateNodeSelector } from '../placement/affinity-validation.js';
import { validateAccessModes, validatePositive, validateVolumeMode } from './claim-validation.js';
import { sourceOf, validatedSource, validateSource } from './persistent-volume-sources.js';

const inContext = 'in the context of inline volumes';
const notInline = `may not be specified ${inContext}`;

export function validateVolume({ metadata, spec }: PersistentVolume): FieldError[] {
  return validateVolumeSpec(spec ?? {}, metadata?.name ?? '', false, path('spec'));
}

/** `inline`: the volume is not an object of its own, so it cannot be claimed or released. */
export function validateVolumeSpec(
  spec: PersistentVolumeSpec,
  volumeName: string,
  inline: boolean,
  fieldPath: FieldPath,
): FieldError[] {
  const modes = spec.accessModes ?? [];
  return [
    ...(inline ? validateInline(spec, fieldPath) : []),
    ...(modes.length === 0 ? [fieldError.required(fieldPath.child('accessModes'))] : []),
    ...validateAccessModes(modes, fieldPath.child('accessModes')),
    ...(inline ? [] : validateCapacity(spec.capacity ?? {}, fieldPath.child('capacity'))),
    ...validateReclaimPolicy(spec, inline, fieldPath.child('persistentVolumeReclaimPolicy')),
    ...validateAffinity(spec.nodeAffinity, inline, fieldPath.child('nodeAffinity')),
    ...validateSource(spec, volumeName, fieldPath),
    ...(validatedSource(spec) === 'local' && (inline || !spec.nodeAffinity)
      ? [
          fieldError.required(
            fieldPath.child('nodeAffinity'),
            'Local volume requires node affinity',
          ),
        ]
      : []),
    ...validateRecycling(spec, fieldPath),
    ...validateClass(spec, inline, fieldPath.child('storageClassName')),
    ...validateMode(spec, inline, fieldPath.child('volumeMode')),
  ];
}

function validateInline(spec: PersistentVolumeSpec, fieldPath: FieldPath): FieldError[] {
  const errors: FieldError[] = [];
  if (spec.claimRef) errors.push(fieldError.forbidden(fieldPath.child('claimRef'), notInline));
  if (Object.keys(spec.capacity ?? {}).length > 0) {
    errors.push(fieldError.forbidden(fieldPath.child('capacity'), notInline));
  }
  if (!spec.csi) {
    errors.push(fieldError.required(fieldPath.child('csi'), `has to be specified ${inContext}`));
  }
  return errors;
}

function validateCapacity(
  capacity: Readonly<Record<string, string>>,
  fieldPath: FieldPath,
): FieldError[] {
  const names = Object.keys(capacity);
  const errors: FieldError[] = [];
  if (names.length === 0) errors.push(fieldError.required(fieldPath));
  if (names.length !== 1 || names[0] !== 'storage') {
    const value = names.length === 0 ? new Literal('core.ResourceList{}') : capacity;
    errors.push(fieldError.notSupported(fieldPath, value, ['storage']));
  }
  for (const [name, text] of Object.entries(capacity)) {
    const amount = Quantity.parse(text);
    if (amount.nanos < 0n) {
      const detail = 'must be a valid resource quantity';
      errors.push(fieldError.invalid(fieldPath.key(name), Number(amount.units()), detail));
    }
    errors.push(...validatePositive(text, fieldPath.key(name)));
  }
  return errors;
}

function validateReclaimPolicy(
  { persistentVolumeReclaimPolicy: policy }: PersistentVolumeSpec,
  inline: boolean,
  fieldPath: FieldPath,
): FieldError[] {
  if (!policy) return [];
  if (!inline) return checkOneOf(policy, ['Delete', 'Recycle', 'Retain'], fieldPath);
  return policy === 'Retain'
    ? []
    : [fieldError.forbidden(fieldPath, `may only be Retain ${inContext}`)];
}

function validateAffinity(
  affinity: VolumeNodeAffinity | undefined,
  inline: boolean,
  fieldPath: FieldPath,
): FieldError[] {
  if (!affinity) return [];
  if (inline) return [fieldError.forbidden(fieldPath, notInline)];
  const required = fieldPath.child('required');
  return affinity.required
    ? validateNodeSelector(affinity.required, required)
    : [fieldError.required(required, 'must specify required node constraints')];
}

/** Rejects recycling the root directory of a host. */
function validateRecycling(spec: PersistentVolumeSpec, fieldPath: FieldPath): FieldError[] {
  const host = spec.hostPath?.path;
  if (!host || spec.persistentVolumeReclaimPolicy !== 'Recycle') return [];
  return posix.resolve('/', host) === '/'
    ? [
        fieldError.forbidden(
          fieldPath.child('persistentVolumeReclaimPolicy'),
          "may not be 'recycle' for a hostPath mount of '/'",
        ),
      ]
    : [];
}

function validateClass(
  { storageClassName }: PersistentVolumeSpec,
  inline: boolean,
  fieldPath: FieldPath,
): FieldError[] {
  if (inline && storageClassName) return [fieldError.forbidden(fieldPath, notInline)];
  return checkOptional(storageClassName, fieldPath, checkDns1123Subdomain);
}

function validateMode(
  { volumeMode }: PersistentVolumeSpec,
  inline: boolean,
  fieldPath: FieldPath,
): FieldError[] {
  if (!inline) return validateVolumeMode(volumeMode, fieldPath);
  return volumeMode === undefined || volumeMode === 'Filesystem'
    ? []
    : [
        fieldError.forbidden(
          fieldPath,
          `may not specify volumeMode other than Filesystem ${inContext}`,
        ),
      ];
}

/** The source is immutable; a secret for expansion may be added once. */
export function validateVolumeUpdate(
  object: PersistentVolume,
  old: PersistentVolume,
): FieldError[] {
  const before = old.spec ?? {};
  const after = structuredClone(object.spec ?? {});
  if (before.csi && !before.csi.controllerExpandSecretRef) {
    delete after.csi?.controllerExpandSecretRef;
  }
  const errors: FieldError[] = [];
  if (!semanticallyEqual(sourceOf(after), sourceOf(before))) {
    errors.push(
      fieldError.forbidden(
        path('spec', 'persistentvolumesource'),
        `spec.persistentvolumesource is immutable after creation\n${structDiff('core/v1.PersistentVolumeSource', sourceOf(after), sourceOf(before))}`,
      ),
    );
  }
  if (after.volumeMode !== before.volumeMode) {
    errors.push(immutable(path('volumeMode'), after.volumeMode));
  }
  if (before.nodeAffinity && !semanticallyEqual(after.nodeAffinity, before.nodeAffinity)) {
    errors.push(immutable(path('nodeAffinity'), after.nodeAffinity));
  }
  return errors;
}
