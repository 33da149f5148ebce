/** Rules of persistent volumes, and of the ones that stand inside attachments. */
import { posix } from 'node:path';
import {
  checkDns1123Subdomain,
  type FieldError,
  type FieldPath,
  fieldError,
  immutable,
  path,
  Quantity,
  semanticallyEqual,
} from '@orch/apimachinery';
import type {
  PersistentVolume,
  PersistentVolumeSpec,
  VolumeNodeAffinity,
} from '@orch/types/core/v1';
import { changedFields, checkOneOf, checkOptional } from '../shared/rules.js';
import { validateNodeSelector } from './affinity-validation.js';
import { validateAccessModes, validatePositive, validateVolumeMode } from './claim-validation.js';
import { sourceOf, validateSource } from './persistent-volume-sources.js';

const inContext = 'in the context of inline volumes';
const notInline = `may not be specified ${inContext}`;

export function validateVolume({ metadata, spec }: PersistentVolume): FieldError[] {
  return validateVolumeSpec(spec ?? {}, metadata?.name ?? '', false, path('spec'));
}

/** `inline`: the volume is no object of its own, so that nobody claims it or gives it back. */
export function validateVolumeSpec(
  spec: PersistentVolumeSpec,
  volumeName: string,
  inline: boolean,
  at: FieldPath,
): FieldError[] {
  const modes = spec.accessModes ?? [];
  return [
    ...(inline ? validateInline(spec, at) : []),
    ...(modes.length === 0 ? [fieldError.required(at.child('accessModes'))] : []),
    ...validateAccessModes(modes, at.child('accessModes')),
    ...(inline ? [] : validateCapacity(spec.capacity ?? {}, at.child('capacity'))),
    ...validateReclaimPolicy(spec, inline, at.child('persistentVolumeReclaimPolicy')),
    ...validateAffinity(spec.nodeAffinity, inline, at.child('nodeAffinity')),
    ...validateSource(spec, volumeName, at),
    ...(spec.local && !spec.nodeAffinity
      ? [fieldError.required(at.child('nodeAffinity'), 'Local volume requires node affinity')]
      : []),
    ...validateRecycling(spec, at),
    ...validateClass(spec, inline, at.child('storageClassName')),
    ...validateMode(spec, inline, at.child('volumeMode')),
  ];
}

function validateInline(spec: PersistentVolumeSpec, at: FieldPath): FieldError[] {
  const errors: FieldError[] = [];
  if (spec.claimRef) errors.push(fieldError.forbidden(at.child('claimRef'), notInline));
  if (Object.keys(spec.capacity ?? {}).length > 0) {
    errors.push(fieldError.forbidden(at.child('capacity'), notInline));
  }
  if (!spec.csi) {
    errors.push(fieldError.required(at.child('csi'), `has to be specified ${inContext}`));
  }
  return errors;
}

function validateCapacity(capacity: Readonly<Record<string, string>>, at: FieldPath): FieldError[] {
  const names = Object.keys(capacity);
  const errors: FieldError[] = [];
  if (names.length === 0) errors.push(fieldError.required(at));
  if (names.length !== 1 || names[0] !== 'storage') {
    errors.push(fieldError.notSupported(at, capacity, ['storage']));
  }
  for (const [name, text] of Object.entries(capacity)) {
    const amount = Quantity.parse(text);
    if (amount.nanos < 0n) {
      const detail = 'must be a valid resource quantity';
      errors.push(fieldError.invalid(at.key(name), Number(amount.units()), detail));
    }
    errors.push(...validatePositive(text, at.key(name)));
  }
  return errors;
}

function validateReclaimPolicy(
  { persistentVolumeReclaimPolicy: policy }: PersistentVolumeSpec,
  inline: boolean,
  at: FieldPath,
): FieldError[] {
  if (!policy) return [];
  if (!inline) return checkOneOf(policy, ['Delete', 'Recycle', 'Retain'], at);
  return policy === 'Retain' ? [] : [fieldError.forbidden(at, `may only be Retain ${inContext}`)];
}

function validateAffinity(
  affinity: VolumeNodeAffinity | undefined,
  inline: boolean,
  at: FieldPath,
): FieldError[] {
  if (!affinity) return [];
  const required = at.child('required');
  return [
    ...(affinity.required
      ? validateNodeSelector(affinity.required, required)
      : [fieldError.required(required, 'must specify required node constraints')]),
    ...(inline ? [fieldError.forbidden(at, notInline)] : []),
  ];
}

/** To empty the root of a machine is nobody's wish. */
function validateRecycling(spec: PersistentVolumeSpec, at: FieldPath): FieldError[] {
  const host = spec.hostPath?.path;
  if (!host || spec.persistentVolumeReclaimPolicy !== 'Recycle') return [];
  return posix.resolve('/', host) === '/'
    ? [
        fieldError.forbidden(
          at.child('persistentVolumeReclaimPolicy'),
          "may not be 'recycle' for a hostPath mount of '/'",
        ),
      ]
    : [];
}

function validateClass(
  { storageClassName }: PersistentVolumeSpec,
  inline: boolean,
  at: FieldPath,
): FieldError[] {
  if (inline && storageClassName) return [fieldError.forbidden(at, notInline)];
  return checkOptional(storageClassName, at, checkDns1123Subdomain);
}

function validateMode(
  { volumeMode }: PersistentVolumeSpec,
  inline: boolean,
  at: FieldPath,
): FieldError[] {
  if (!inline) return validateVolumeMode(volumeMode, at);
  return volumeMode === undefined || volumeMode === 'Filesystem'
    ? []
    : [fieldError.forbidden(at, `may not specify volumeMode other than Filesystem ${inContext}`)];
}

/** Where the storage is stays; a secret for growing may be added once. */
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
        `spec.persistentvolumesource is immutable after creation\n${changedFields(sourceOf(after), sourceOf(before))}`,
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
